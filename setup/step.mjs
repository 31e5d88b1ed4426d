// A set-up step: skipped in milliseconds when what it was made from has not changed, else run with progress lines.
import { createHash } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { cache, root } from "./place.mjs";

/** A failure that names the step, the command, its last lines and what to do. */
export class StepError extends Error {
  constructor(message, { command = "", tail = "", hint = "" } = {}) {
    super(message);
    this.name = "StepError";
    this.command = command;
    this.tail = tail;
    this.hint = hint;
  }
}

export function explain(error) {
  if (!(error instanceof StepError)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  const lines = [`Stopped: ${error.message}`];
  if (error.command) lines.push(`  command: ${error.command}`);
  if (error.tail) lines.push("  its last lines:", ...error.tail.split("\n").map((line) => `    ${line}`));
  if (error.hint) lines.push("What to do:", ...error.hint.split("\n").map((line) => `  ${line}`));
  return lines.join("\n");
}

const skipped = new Set(["node_modules", "build", "dist", ".cache", "README.md"]);

function filesUnder(path, found) {
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) {
    found.push(path);
    return;
  }
  for (const name of readdirSync(path).sort()) {
    if (!skipped.has(name)) filesUnder(join(path, name), found);
  }
}

/** Hash over the contents of files and folders (paths from the root), of all files or those whose name `wanted` matches, and further words. */
export function fingerprint(paths, { words = [], wanted = /./ } = {}) {
  const hash = createHash("sha256");
  for (const word of words) hash.update(`${word}\0`);
  const files = [];
  for (const path of paths) filesUnder(join(root, path), files);
  for (const file of files) {
    const name = relative(root, file);
    if (wanted.test(name)) hash.update(`${name}\0`).update(readFileSync(file)).update("\0");
  }
  return hash.digest("hex");
}

const stampFile = (name) => join(cache, "stamp", name);

export function stampOf(name) {
  return existsSync(stampFile(name)) ? readFileSync(stampFile(name), "utf8") : "";
}

export function setStamp(name, value) {
  mkdirSync(join(cache, "stamp"), { recursive: true });
  writeFileSync(stampFile(name), value);
}

export function isDone({ name, key, outputs = [] }) {
  return stampOf(name) === key() && outputs.every((output) => existsSync(join(root, output)));
}

/** Runs `make` unless `key()` is the one it last succeeded with and every output is there. Waits where another process is at work. */
export async function step(one) {
  if (!isDone(one)) await alone(() => carryOut(one));
}

async function carryOut(one) {
  // The one before may have done it.
  if (isDone(one)) return;
  const { name, key, outputs = [], make } = one;
  rmSync(stampFile(name), { force: true });
  const begun = key();
  await make();
  const missing = outputs.filter((output) => !existsSync(join(root, output)));
  if (missing.length > 0) throw new StepError(`"${name}" ended well but did not make ${missing.join(", ")}`);
  setStamp(name, begun);
}

let depth = 0;
let turn;

/** One set-up at a time in a working tree: a second process waits and says so. Work within such work just goes on. */
export async function alone(work) {
  depth += 1;
  if (depth === 1) turn = takeTurn();
  try {
    await turn;
    return await work();
  } finally {
    depth -= 1;
    if (depth === 0) giveTurn();
  }
}

const lock = join(cache, "setup.lock");
const giveTurn = () => {
  process.removeListener("exit", giveTurn);
  rmSync(lock, { force: true });
};

async function takeTurn() {
  mkdirSync(cache, { recursive: true });
  let told = false;
  while (!take()) {
    const holder = Number(existsSync(lock) ? readFileSync(lock, "utf8") : "0");
    if (holder > 0 && !alive(holder)) {
      removeLeftOf(holder);
      continue;
    }
    if (!told) process.stderr.write(`Another set-up (process ${holder}) is at work here; waiting for it\n`);
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  process.once("exit", giveTurn);
}

/** Of several that wait, one may have removed it already and taken its turn: then its lock goes back. */
function removeLeftOf(holder) {
  const aside = `${lock}.${process.pid}`;
  try {
    renameSync(lock, aside);
    if (readFileSync(aside, "utf8") !== String(holder)) linkSync(aside, lock);
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error;
  }
  rmSync(aside, { force: true });
}

function take() {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
