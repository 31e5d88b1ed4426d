/**
 * Fetches a wheel with the machine's own pip, so that its index, proxy and certificates are the ones the user has set up. Progress is the size of
 * what pip has written so far; stopping ends pip and everything it started.
 */
import type { ChildProcess, SpawnOptions } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

export type Spawn = (command: string, parameters: readonly string[], options: SpawnOptions) => ChildProcess;

export interface PipOptions {
  requirement: string;
  /** Emptied first; pip's temporary files and the wheel lie below it. */
  folder: string;
  spawn: Spawn;
  /** Tried before the usual names. */
  python?: string | undefined;
  platform: NodeJS.Platform;
  /** The variables that pip shall see. */
  variables: Record<string, string | undefined>;
  signal: AbortSignal;
  onBytes: (received: number) => void;
}

/** Words for the user: why pip cannot or did not. */
export class PipFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PipFault";
  }
}

const watchMilliseconds = 250;
const endMilliseconds = 2000;

/** Resolves to the wheel's path. Rejects with PipFault, or an Error when stopped. */
export async function pipDownload(options: PipOptions): Promise<string> {
  const { folder, requirement, platform } = options;
  rmSync(folder, { recursive: true, force: true });
  const temporary = join(folder, "tmp");
  const goal = join(folder, "wheel");
  mkdirSync(temporary, { recursive: true });
  mkdirSync(goal);
  const usual = platform === "win32" ? ["py", "python", "python3"] : ["python3", "python"];
  const commands = options.python === undefined ? usual : [options.python];
  const base = ["-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input"];
  base.push("--disable-pip-version-check", "--progress-bar", "off", "--timeout", "20", "--retries", "2");
  let lacksPip = false;
  for (const command of commands) {
    const parameters = [...base, requirement, "-d", goal];
    const outcome = await runPip(command, parameters, temporary, goal, options);
    if (outcome === "no pip") lacksPip = true;
    if (outcome !== "done") continue;
    const wheel = readdirSync(goal).find((name) => name.endsWith(".whl"));
    if (wheel === undefined) throw new PipFault("pip ended without a file");
    return join(goal, wheel);
  }
  throw new PipFault(lacksPip ? "Python has no pip" : `Python is not installed (tried ${commands.join(", ")})`);
}

function runPip(
  command: string,
  parameters: string[],
  temporary: string,
  goal: string,
  { spawn, signal, platform, variables, onBytes }: PipOptions,
): Promise<"done" | "no such command" | "no pip"> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Error("aborted"));
    const environment = {
      ...variables,
      TMPDIR: temporary,
      TEMP: temporary,
      TMP: temporary,
      PYTHONUNBUFFERED: "1",
      LC_ALL: "C.UTF-8",
    };
    // A group of its own: pip starts helpers, and stopping must reach them.
    const child = spawn(command, parameters, {
      env: environment,
      detached: platform !== "win32",
      stdio: ["ignore", "ignore", "pipe"],
      windowsHide: true,
    });
    let complaint = "";
    child.stderr?.setEncoding("utf8");
    child.stderr?.on("data", (text: string) => {
      complaint = (complaint + text).slice(-4000);
    });
    const watch = setInterval(() => onBytes(largestFile(temporary, goal)), watchMilliseconds);
    let force: NodeJS.Timeout | undefined;
    const stop = (): void => {
      end(child, platform, spawn, "SIGTERM");
      force = setTimeout(() => end(child, platform, spawn, "SIGKILL"), endMilliseconds);
    };
    signal.addEventListener("abort", stop, { once: true });
    const settle = (): void => {
      clearInterval(watch);
      clearTimeout(force);
      signal.removeEventListener("abort", stop);
    };
    child.on("error", (error) => {
      settle();
      if (Reflect.get(error, "code") === "ENOENT") resolve("no such command");
      else reject(new PipFault(`${command} could not be started: ${error.message}`));
    });
    child.on("close", (code, how) => {
      settle();
      if (signal.aborted) reject(new Error("aborted"));
      else if (code === 0) resolve("done");
      else if (/No module named pip/.test(complaint)) resolve("no pip");
      else reject(new PipFault(reasonOf(complaint) || `pip ended with ${code ?? how}`));
    });
  });
}

/** The whole process group; on Windows the process tree. */
function end(child: ChildProcess, platform: NodeJS.Platform, spawn: Spawn, how: "SIGTERM" | "SIGKILL"): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  if (platform === "win32") {
    spawn("taskkill", ["/pid", String(child.pid), "/T", "/F"], { stdio: "ignore", windowsHide: true });
    return;
  }
  try {
    process.kill(-child.pid, how);
  } catch (error) {
    // It ended by itself in between.
    if (Reflect.get(Object(error), "code") !== "ESRCH") throw error;
  }
}

/** The line that says why, out of all that pip tells. */
export function reasonOf(complaint: string): string {
  const lines = complaint.split("\n").map((line) => line.trim());
  const errors = lines.filter((line) => line.startsWith("ERROR:"));
  const line = errors[errors.length - 1] ?? lines.filter((entry) => entry !== "").pop() ?? "";
  return line.replace(/^ERROR:\s*/, "").slice(0, 300);
}

function largestFile(...folders: string[]): number {
  let largest = 0;
  const look = (folder: string): void => {
    if (!existsSync(folder)) return;
    for (const item of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, item.name);
      if (item.isDirectory()) look(path);
      else largest = Math.max(largest, statSync(path, { throwIfNoEntry: false })?.size ?? 0);
    }
  };
  for (const folder of folders) look(folder);
  return largest;
}
