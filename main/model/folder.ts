/** Looks for models in the model folders: GGUF files, and folders of safetensors. Reads names and sizes only. */
import { createHash } from "node:crypto";
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";

/** One model on disk: a file, the first of several shards, or a folder with config.json and safetensors. */
export interface ModelFile {
  id: string;
  /** Of the file or folder to open; with shards, the first one. */
  path: string;
  fileName: string;
  /** All shards, or all safetensors of a folder, together. */
  bytes: number;
  /** Newest of the shards, milliseconds. */
  modified: number;
  /** 1 for a file that is not split. */
  shards: number;
  /** Numbers of the shards that are not there, from 1. */
  missingShards: number[];
  /** A projector for images that lies beside it, shown with its model and never alone. */
  projector: string | null;
}

export interface FolderFault {
  folder: string;
  reason: string;
}

export interface FolderReading {
  files: ModelFile[];
  /** Folders that exist and could not be read. */
  faults: FolderFault[];
}

interface Found {
  path: string;
  relative: string;
  bytes: number;
  modified: number;
}

/** publisher/repository/file.gguf, as other programs lay them out. */
const depth = 3;
const shardName = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;

/** A file that lies in two folders under the same relative name with the same size is listed once, from the earlier folder. */
export async function readModelFolders(folders: readonly string[]): Promise<FolderReading> {
  const faults: FolderFault[] = [];
  const files = new Map<string, ModelFile>();
  for (const folder of folders) {
    const found: Found[] = [];
    await walk({ root: folder, found, faults, seen: new Set() }, "", depth);
    for (const file of group(found)) if (!files.has(file.id)) files.set(file.id, file);
  }
  return { files: [...files.values()], faults };
}

/** A file that lies anywhere, as if its folder were a model folder; with shards, any of them. Rejects with the file system's error. */
export async function readModelFile(path: string): Promise<ModelFile> {
  const file = await found(path);
  const match = shardName.exec(file.relative);
  if (match === null) return single(file, null);
  const shards: Found[] = [];
  for (const name of (await readdir(dirname(path))).sort()) {
    const other = shardName.exec(name);
    if (other?.[1] === match[1] && other?.[3] === match[3]) shards.push(await found(join(dirname(path), name)));
  }
  return joined(shards, []);
}

async function found(path: string): Promise<Found> {
  const entry = await stat(path);
  if (entry.isDirectory()) {
    const checkpoint = await readCheckpoint(path, basename(path), await readdir(path));
    if (checkpoint !== null) return checkpoint;
  }
  const { size, mtimeMs } = entry;
  return { path, relative: basename(path), bytes: size, modified: mtimeMs };
}

interface Walk {
  root: string;
  found: Found[];
  faults: FolderFault[];
  /** Real paths of the folders so far: links may lead in circles. */
  seen: Set<string>;
}

async function walk(state: Walk, inside: string, levels: number): Promise<void> {
  const { root, found, faults, seen } = state;
  const folder = join(root, inside);
  let names: string[];
  try {
    const real = await realpath(folder);
    if (seen.has(real)) return;
    seen.add(real);
    names = (await readdir(folder)).sort();
  } catch (error) {
    // The model folder is made by the first download; until then there are no models.
    if (code(error) !== "ENOENT")
      faults.push({ folder, reason: error instanceof Error ? error.message : String(error) });
    return;
  }
  const checkpoint = await readCheckpoint(folder, inside === "" ? basename(folder) : inside, names);
  if (checkpoint !== null) found.push(checkpoint);
  for (const name of names) {
    if (name.startsWith(".")) continue;
    const relative = join(inside, name);
    try {
      const entry = await stat(join(root, relative));
      if (entry.isDirectory() && levels > 0) await walk(state, relative, levels - 1);
      else if (entry.isFile() && /\.gguf$/i.test(name)) {
        found.push({ path: join(root, relative), relative, bytes: entry.size, modified: entry.mtimeMs });
      }
    } catch (error) {
      // A file that went away, or a link to nothing, is no model.
      if (code(error) !== "ENOENT")
        faults.push({ folder: join(root, relative), reason: error instanceof Error ? error.message : String(error) });
    }
  }
}

/** A folder as the model it holds; null where it holds none of its own. */
async function readCheckpoint(folder: string, relative: string, names: readonly string[]): Promise<Found | null> {
  const weights = names.filter((name) => name.endsWith(".safetensors"));
  if (weights.length === 0 || !names.includes("config.json")) return null;
  const parts = await Promise.all(weights.map((name) => stat(join(folder, name)).catch(() => null)));
  const there = parts.filter((part) => part !== null);
  return {
    path: folder,
    relative,
    bytes: there.reduce((sum, part) => sum + part.size, 0),
    modified: Math.max(0, ...there.map((part) => part.mtimeMs)),
  };
}

function group(found: Found[]): ModelFile[] {
  const projectors = found.filter((file) => isProjector(file.path));
  const models: ModelFile[] = [];
  const shards = new Map<string, Found[]>();
  for (const file of found) {
    if (isProjector(file.path)) continue;
    const match = shardName.exec(file.relative);
    if (match === null) models.push(single(file, beside(file, projectors)));
    else {
      const key = `${match[1]}|${match[3]}`;
      shards.set(key, [...(shards.get(key) ?? []), file]);
    }
  }
  for (const parts of shards.values()) models.push(joined(parts, projectors));
  return models.sort((a, b) => a.fileName.localeCompare(b.fileName) || (a.path < b.path ? -1 : 1));
}

function single(file: Found, projector: string | null): ModelFile {
  const fileName = basename(file.path);
  const id = modelId(file.relative, file.bytes);
  return {
    id,
    path: file.path,
    fileName,
    bytes: file.bytes,
    modified: file.modified,
    shards: 1,
    missingShards: [],
    projector,
  };
}

function joined(parts: Found[], projectors: Found[]): ModelFile {
  const numbered = new Map(parts.map((part) => [Number(shardName.exec(part.relative)?.[2]), part]));
  const first = numbered.get(1) ?? parts[0];
  if (first === undefined) throw new RangeError("a group of shards has at least one");
  const shards = Number(shardName.exec(first.relative)?.[3]);
  const missingShards: number[] = [];
  for (let n = 1; n <= shards; n++) if (!numbered.has(n)) missingShards.push(n);
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const base = single(first, beside(first, projectors));
  const id = modelId(first.relative.replace(shardName, "$1-of-$3"), bytes);
  return { ...base, id, bytes, modified: Math.max(...parts.map((part) => part.modified)), shards, missingShards };
}

/** The same file has the same id wherever its folder lies, so a moved data folder keeps its chats' models. */
export function modelId(relative: string, bytes: number): string {
  const path = relative.split(sep).join("/").normalize("NFC");
  const hash = createHash("sha256").update(`${path}|${bytes}`).digest("hex").slice(0, 10);
  const slug = displayName(path.slice(path.lastIndexOf("/") + 1))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return slug === "" ? hash : `${slug.slice(0, 48)}-${hash}`;
}

/** File names are what people choose by; `general.name` inside the file is often the name of somebody's training run. */
export function displayName(fileName: string): string {
  const stem = fileName.replace(/\.gguf$/i, "").replace(/-\d{5}-of-\d{5}$/, "");
  const format = /[.\-_](UD-)?(I?Q\d[A-Za-z0-9_]*|TQ\d[A-Za-z0-9_]*|MXFP4[A-Za-z0-9_]*|F16|F32|BF16|FP16)$/i;
  const name = stem.replace(format, "").trim();
  return name === "" ? stem : name;
}

function isProjector(path: string): boolean {
  return /mmproj/i.test(basename(path));
}

function beside(file: Found, projectors: Found[]): string | null {
  const folder = file.path.slice(0, file.path.lastIndexOf(sep));
  return (
    projectors.find((projector) => projector.path.slice(0, projector.path.lastIndexOf(sep)) === folder)?.path ?? null
  );
}

function code(error: unknown): unknown {
  return Reflect.get(Object(error), "code");
}
