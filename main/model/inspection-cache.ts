/** Inspections of unchanged files, kept over restarts, so that the list is there before the engine is. Only good ones are kept. */
import type { ModelInspection } from "../../app/engine.ts";
import type { ModelFile } from "./folder.ts";

export interface InspectionCache {
  get(file: ModelFile): ModelInspection | null;
  set(file: ModelFile, inspection: ModelInspection): void;
  /** Forgets what is not in `files` and writes the rest, if anything changed. */
  save(files: readonly ModelFile[]): void;
}

export interface InspectionCacheOptions {
  /** Entries of another version are dropped: a newer engine reads more from a file. */
  version: string;
  /** What `save` wrote last, or anything else: what is not as expected counts as empty. */
  read: () => unknown;
  write: (value: unknown) => void;
}

interface Entry {
  key: string;
  inspection: ModelInspection;
}

export function createInspectionCache({ version, read, write }: InspectionCacheOptions): InspectionCache {
  const entries = load(read(), version);
  let changed = false;
  return {
    get(file) {
      const entry = entries.get(file.path);
      return entry !== undefined && entry.key === keyOf(file) ? entry.inspection : null;
    },
    set(file, inspection) {
      entries.set(file.path, { key: keyOf(file), inspection });
      changed = true;
    },
    save(files) {
      const paths = new Set(files.map((file) => file.path));
      for (const path of [...entries.keys()]) if (!paths.has(path)) changed = entries.delete(path) || changed;
      if (!changed) return;
      write({ version, entries: Object.fromEntries(entries) });
      changed = false;
    },
  };
}

function load(value: unknown, version: string): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  if (Reflect.get(Object(value), "version") !== version) return entries;
  for (const [path, entry] of Object.entries(Object(Reflect.get(Object(value), "entries")))) {
    const { key, inspection } = Object(entry) as Partial<Entry>;
    // Written by this very version, so the inside of an inspection is not checked again.
    if (typeof key === "string" && typeof inspection?.path === "string" && inspection.path === path)
      entries.set(path, { key, inspection });
  }
  return entries;
}

function keyOf(file: ModelFile): string {
  return `${file.bytes}|${file.modified}|${file.shards}`;
}
