import { type ChildProcess, fork } from "node:child_process";
import { type ChildArgument, writeChildArgument } from "./argument.ts";
import type { EngineProcess, ProcessExit, SpawnEngine } from "./process.ts";

export interface NodeSpawnOptions extends Partial<ChildArgument> {
  /** child.ts, or its bundle. Absolute path. */
  entry: string;
  /** Default: the Node that runs this. */
  execPath?: string;
  /** Default: none, so that a debugger or loader of main's is not inherited. */
  execArgv?: string[];
  /** Told what the process writes to standard error. Default: our own standard error. */
  onStderr?: (text: string) => void;
}

const stderrKept = 4096;

/** Starts engine processes as forked Node processes: for headless use, and for tests. */
export function createNodeSpawn(options: NodeSpawnOptions): SpawnEngine {
  const argument = writeChildArgument({ module: options.module ?? null, options: options.options ?? {} });
  return () => {
    const child = fork(options.entry, [argument], {
      serialization: "advanced",
      stdio: ["ignore", "inherit", "pipe", "ipc"],
      execArgv: options.execArgv ?? [],
      ...(options.execPath === undefined ? {} : { execPath: options.execPath }),
    });
    return wrapChild(child, options.onStderr ?? ((text) => process.stderr.write(text)));
  };
}

function wrapChild(child: ChildProcess, onStderr: (text: string) => void): EngineProcess {
  let stderr = "";
  let exit: ProcessExit | null = null;
  const listeners: ((exit: ProcessExit) => void)[] = [];
  const settle = (code: number | null, signal: string | null): void => {
    if (exit !== null) return;
    exit = { code, signal, stderr: stderr.trim() };
    for (const listener of listeners) listener(exit);
  };

  child.stderr?.setEncoding("utf8");
  child.stderr?.on("data", (text: string) => {
    stderr = (stderr + text).slice(-stderrKept);
    onStderr(text);
  });
  child.on("error", (error) => {
    stderr += error.message;
    if (child.pid === undefined) settle(null, null);
  });
  // `close` comes after the last of stderr, but never when a grandchild holds it: `exit` is given a moment.
  child.on("close", settle);
  child.on("exit", (code, signal) => {
    setTimeout(() => settle(code, signal), 100);
  });

  return {
    get pid() {
      return child.pid ?? null;
    },
    post(message) {
      if (child.connected) child.send(message as object, () => undefined);
    },
    onMessage(handler) {
      child.on("message", handler);
    },
    onExit(handler) {
      if (exit === null) listeners.push(handler);
      else handler(exit);
    },
    kill() {
      if (exit === null) child.kill("SIGKILL");
    },
  };
}
