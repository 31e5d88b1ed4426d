// Where things are. Plain Node >= 20 without any dependency: all of setup/ runs before the first install.
import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const windows = process.platform === "win32";
export const cache = join(root, ".cache");
export const bin = join(root, "node_modules", ".bin");
/** Node 24 of the npm package `node`: everything after the install runs on it, whatever the machine has. */
export const node24 = join(root, "node_modules", "node", "bin", windows ? "node.exe" : "node");

/** The environment in which `node` and the installed tools come first on the PATH. */
export function pathWithNode(extra = {}) {
  const path = [existsSync(node24) ? dirname(node24) : "", bin, process.env.PATH ?? ""].filter((part) => part !== "");
  return { ...process.env, PATH: path.join(delimiter), ...extra };
}

/** Whether this module is the program that was started, not one that it imports. */
export const isProgram = (url) => process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(url);
