/** A small JSON file that is either the old or the new one, never half of it, and that is kept aside when it cannot be read. */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export type JsonReading =
  | { state: "missing" }
  | { state: "read"; value: unknown }
  /** `keptAs` is where the damaged file is now. */
  | { state: "damaged"; reason: string; keptAs: string };

/** Throws what the file system throws, except for a missing file. `stamp` tells damaged copies apart. */
export function readJson(path: string, stamp: number): JsonReading {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (Reflect.get(Object(error), "code") === "ENOENT") return { state: "missing" };
    throw error;
  }
  try {
    return { state: "read", value: JSON.parse(text.replace(/^\uFEFF/, "")) };
  } catch (error) {
    return {
      state: "damaged",
      reason: error instanceof Error ? error.message : String(error),
      keptAs: keepAside(path, stamp),
    };
  }
}

export function keepAside(path: string, stamp: number): string {
  const target = `${path}.damaged-${stamp}`;
  renameSync(path, target);
  return target;
}

/** Written under another name, forced to the disk, then renamed. */
export function writeJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  const partial = `${path}.${process.pid}.partial`;
  const file = openSync(partial, "w", 0o600);
  try {
    writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
    fsyncSync(file);
  } catch (error) {
    closeSync(file);
    rmSync(partial, { force: true });
    throw error;
  }
  closeSync(file);
  renameSync(partial, path);
}
