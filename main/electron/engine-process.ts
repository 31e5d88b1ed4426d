/** Engine processes as Electron's utility processes: they need no second program on disk and are named in the system's task list. */
import type { UtilityProcess, utilityProcess } from "electron";
import type { EngineProcess, ProcessExit, SpawnEngine } from "../engine/process.ts";

export interface UtilitySpawnOptions {
  utilityProcess: Pick<typeof utilityProcess, "fork">;
  /** The bundle of child.ts. Absolute path. */
  entry: string;
  /** The child's one argument, as main/engine/argument.ts writes it. */
  argument: string;
}

const stderrKept = 4096;

export function createUtilitySpawn({ utilityProcess, entry, argument }: UtilitySpawnOptions): SpawnEngine {
  return () =>
    wrapUtility(
      utilityProcess.fork(entry, [argument], { serviceName: "Halogen engine", stdio: ["ignore", "inherit", "pipe"] }),
    );
}

function wrapUtility(child: UtilityProcess): EngineProcess {
  let stderr = "";
  let exit: ProcessExit | null = null;
  // Electron forgets the id at the exit; killing needs the one it had.
  let pid = child.pid ?? null;
  child.on("spawn", () => {
    pid = child.pid ?? null;
  });
  child.stderr?.on("data", (data: Buffer) => {
    stderr = (stderr + data.toString("utf8")).slice(-stderrKept);
    process.stderr.write(data);
  });
  const listeners: ((exit: ProcessExit) => void)[] = [];
  child.on("exit", (code) => {
    exit = { code, signal: null, stderr: stderr.trim() };
    for (const listener of listeners) listener(exit);
  });
  return {
    get pid() {
      return pid;
    },
    post(message) {
      if (exit === null) child.postMessage(message);
    },
    onMessage(handler) {
      child.on("message", handler);
    },
    onExit(handler) {
      if (exit === null) listeners.push(handler);
      else handler(exit);
    },
    kill() {
      if (exit !== null) return;
      // Electron's own kill asks politely, which a hung driver call never hears.
      if (pid !== null) process.kill(pid, "SIGKILL");
      else child.kill();
    },
  };
}
