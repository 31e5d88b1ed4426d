// Child processes of the set-up: with progress and a log, or in the user's terminal; none outlives its parent.
import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { cache, pathWithNode, root, windows } from "./place.mjs";
import { StepError } from "./step.mjs";

const children = new Set();
let endingSince = 0;

/** `group`: the child leads a process group of its own, so that whatever it started ends with it. */
function signalTo({ child, group }, signal) {
  try {
    if (group && !windows) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

const endAll = (signal) => {
  for (const entry of children) signalTo(entry, signal);
};

// One Ctrl-C reaches us twice, from the terminal and from npm: only a later one means "now".
const again = 1500;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    const now = Date.now();
    if (endingSince > 0) {
      if (now - endingSince > again) endAll("SIGKILL");
      return;
    }
    endingSince = now;
    if (children.size === 0) process.exit(130);
    for (const entry of children) {
      // A child in our own group got the terminal's Ctrl-C already, and a second one would mean "at once" to it.
      const had = signal === "SIGINT" && !entry.group && process.stdin.isTTY === true;
      if (!had) signalTo(entry, signal);
    }
  });
}
process.on("exit", () => endAll("SIGKILL"));

const quote = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word));
export const commandLine = (file, args) => [file, ...args].map(quote).join(" ");

const interactive = process.stderr.isTTY === true && process.env.CI === undefined;
export const say = (line) => process.stderr.write(`${line}\n`);

/** A long step's line with a note of what goes on (null keeps the last): redrawn in a terminal, else repeated every fifteen seconds. `end` leaves one line with the time it took. */
export function progress(title) {
  const begun = Date.now();
  let note = "";
  const seconds = () => `${((Date.now() - begun) / 1000).toFixed(0)} s`;
  const draw = () => {
    const width = (process.stderr.columns ?? 100) - 1;
    process.stderr.write(`\r\x1b[2K${`${title} … ${seconds()}  ${note}`.slice(0, width)}`);
  };
  if (!interactive) say(`${title} …`);
  const timer = interactive ? setInterval(draw, 250) : setInterval(() => say(`  … ${seconds()}  ${note}`), 15_000);
  return {
    note: (text) => {
      if (text === null) return;
      note = text
        .replace(/\p{Cc}/gu, " ")
        .trim()
        .slice(0, 90);
    },
    end: (word) => {
      clearInterval(timer);
      if (interactive) process.stderr.write("\r\x1b[2K");
      say(`${title}: ${word} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
    },
  };
}

/**
 * Runs a command with a progress line (`noteOf` makes its note from a line of output) and a log. Throws StepError with the last lines on failure.
 * Returns its standard output.
 */
export async function run(title, file, args, options = {}) {
  const {
    cwd = root,
    env = {},
    hint = "",
    timeout = 0,
    noteOf = (line) => line,
    log = title.replace(/\W+/g, "-").toLowerCase(),
  } = options;
  mkdirSync(join(cache, "log"), { recursive: true });
  const logFile = join(cache, "log", `${log}.log`);
  const descriptor = openSync(logFile, "w");
  const bar = progress(title);
  const command = commandLine(file, args);
  let out = "";
  let tail = [];
  const take = (chunk) => {
    writeSync(descriptor, chunk);
    const text = chunk.toString("utf8");
    const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== "");
    for (const line of lines) bar.note(noteOf(line));
    tail = [...tail, ...lines].slice(-25);
  };
  const ended = await new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      env: pathWithNode(env),
      stdio: ["ignore", "pipe", "pipe"],
      detached: !windows,
      shell: windows && !file.endsWith(".exe"),
    });
    const entry = { child, group: true };
    children.add(entry);
    let timedOut = false;
    const timer =
      timeout > 0
        ? setTimeout(() => {
            timedOut = true;
            signalTo(entry, "SIGKILL");
          }, timeout)
        : undefined;
    child.stdout.on("data", (chunk) => {
      out += chunk.toString("utf8");
      take(chunk);
    });
    child.stderr.on("data", take);
    const finish = (result) => {
      clearTimeout(timer);
      children.delete(entry);
      resolve(result);
    };
    child.on("error", (error) => finish({ ok: false, why: error.message }));
    child.on("close", (code, signal) =>
      finish({
        ok: code === 0,
        why: timedOut ? `it took longer than ${timeout / 1000} s` : signal ? `ended by ${signal}` : `exit code ${code}`,
      }),
    );
  });
  closeSync(descriptor);
  bar.end(ended.ok ? "done" : "failed");
  if (endingSince > 0) process.exit(130);
  if (!ended.ok) throw new StepError(`${title} failed: ${ended.why}`, { command, tail: tail.join("\n"), hint });
  return out;
}

const codeOf = (code, signal) => code ?? { SIGINT: 130, SIGTERM: 143 }[signal] ?? 137;

/** Runs a command in the user's terminal and resolves with its exit code (128 + n after a signal). */
export function hand(file, args, { cwd = root, env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env: pathWithNode(env), stdio: "inherit" });
    const entry = { child, group: false };
    children.add(entry);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      children.delete(entry);
      resolve(codeOf(code, signal));
    });
  });
}

/** Starts the app itself, away from the terminal's signals: it gets ours, once. `onLine` sees its standard output, which is also shown. */
export function launch(file, args, { cwd = root, env = {}, onLine = () => undefined } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd,
      env: pathWithNode(env),
      stdio: ["ignore", "pipe", "inherit"],
      detached: !windows,
    });
    const entry = { child, group: true };
    children.add(entry);
    let rest = "";
    child.stdout.on("data", (chunk) => {
      process.stdout.write(chunk);
      const lines = `${rest}${chunk.toString("utf8")}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) onLine(line);
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      children.delete(entry);
      resolve(codeOf(code, signal));
    });
  });
}

/** The first of these that answers to `--version`; null when none does. */
export function found(names) {
  for (const name of names) {
    const probe = spawnSync(name, ["--version"], { env: pathWithNode(), encoding: "utf8", timeout: 20_000 });
    if (probe.status === 0) return { name, version: `${probe.stdout}`.split("\n")[0] ?? "" };
  }
  return null;
}
