/** A library over a real folder and an engine that does as the test says. Call inside a test file's top level. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { AnyEvent } from "../../../../app/contract/event.ts";
import { createInspectionCache } from "../../../../main/model/inspection-cache.ts";
import { createLibrary, type Library, type LibraryOptions } from "../../../../main/model/library.ts";
import { createSlowEngine } from "./slow-engine.ts";

export interface ScratchLibrary {
  root: string;
  events: AnyEvent[];
  slow: ReturnType<typeof createSlowEngine>;
  settings: { contextLength: number; kvType: "f16"; threads: number; defaultModelId: string | null };
  /** What the inspection cache wrote. */
  cacheFile: unknown;
  library: Library;
  featuresOf: LibraryOptions["featuresOf"];
  /** Another one over the same folder, engine and cache, as after a restart. */
  open(version?: string): Library;
  put(name: string, bytes?: number): void;
  idOf(fileName: string): string;
  stateOf(fileName: string): string;
}

export function scratchLibrary(): ScratchLibrary {
  const scratch = {
    open(version = "1"): Library {
      const cache = createInspectionCache({
        version,
        read: () => scratch.cacheFile,
        write: (value) => {
          scratch.cacheFile = JSON.parse(JSON.stringify(value));
        },
      });
      scratch.library = createLibrary({
        folders: [scratch.root],
        engine: scratch.slow.engine,
        settings: () => scratch.settings,
        cache,
        featuresOf: (inspection) => scratch.featuresOf(inspection),
        emit: (event) => scratch.events.push(event),
      });
      return scratch.library;
    },
    put(name: string, bytes = 10): void {
      mkdirSync(dirname(join(scratch.root, name)), { recursive: true });
      writeFileSync(join(scratch.root, name), Buffer.alloc(bytes));
    },
    idOf: (fileName: string) => scratch.library.list().find((model) => model.fileName === fileName)?.id ?? "",
    stateOf: (fileName: string) => scratch.library.get(scratch.idOf(fileName)).state,
  } as ScratchLibrary;

  beforeEach(() => {
    scratch.root = mkdtempSync(join(tmpdir(), "halogen 模型 é "));
    scratch.events = [];
    scratch.slow = createSlowEngine();
    scratch.settings = { contextLength: 0, kvType: "f16", threads: 0, defaultModelId: null };
    scratch.cacheFile = null;
    scratch.featuresOf = async () => null;
    scratch.open();
  });
  afterEach(async () => {
    await scratch.library.close();
    rmSync(scratch.root, { recursive: true, force: true });
  });
  return scratch;
}
