/** The models on this machine: found, looked into, listed, and loaded when somebody needs one. */

import { resolve as absolutePath } from "node:path";
import type { AnyEvent } from "../../app/contract/event.ts";
import type { ChatFeatures, Model } from "../../app/contract/model.ts";
import type { Settings } from "../../app/contract/setting.ts";
import type { Engine, LoadedModel, LoadOptions, MemoryPlan, ModelInspection } from "../../app/engine.ts";
import { fromWire, HalogenError, toWire } from "../../app/error.ts";
import { createEntry, type Entry, faultOf, faultOfShards, toModel } from "./entry.ts";
import { type ModelFile, readModelFile, readModelFolders } from "./folder.ts";
import type { InspectionCache } from "./inspection-cache.ts";
import { type AcquireOptions, createResident } from "./resident.ts";
import { watchFolders } from "./watch.ts";

/** A loaded model and all that a turn needs to know of it. Whoever got it must `release` it; until then it stays loaded. */
export interface ModelLease {
  model: Model;
  path: string;
  inspection: ModelInspection;
  loaded: LoadedModel;
  release(): void;
}

export interface Library {
  list(): Model[];
  /** Throws model.not_found. */
  get(modelId: string): Model;
  /** With what its chat template offers, which `get` and `list` may not know yet. Rejects with model.not_found. */
  studied(modelId: string): Promise<Model>;
  /** The model of new chats: the one that is set, else the first that can be loaded; null when there is none. */
  preferred(): Model | null;
  /** By id, file name, name, or a path anywhere on this machine. Rejects with model.not_found, which names what there is. */
  resolve(reference: string): Promise<Model>;
  /** Looks at the folders again; calls that overlap share one look. */
  scan(): Promise<Model[]>;
  /** Exact bytes of loading it with the present settings. */
  plan(modelId: string): Promise<MemoryPlan>;
  /** Its file and what is known of it, without loading it. Rejects with model.not_found, or the file's or the engine's error. */
  source(modelId: string): Promise<Pick<ModelLease, "path" | "inspection">>;
  /** Waits for its turn, unloads another model if it must, loads. Rejects with the file's or the engine's error, or request.cancelled. */
  acquire(modelId: string, options?: AcquireOptions): Promise<ModelLease>;
  /** Loads it without using it. */
  load(modelId: string): Promise<Model>;
  unload(modelId: string): Promise<Model>;
  /** Begins what its first reply with a format would wait for; nothing where it is not loaded. Rejects with model.not_found. */
  prepareFormat(modelId: string): Promise<void>;
  /** To be called when the engine process has ended: nothing is loaded any more. */
  engineLost(): void;
  close(): Promise<void>;
}

export interface LibraryOptions {
  folders: readonly string[];
  engine: Pick<Engine, "info" | "inspect" | "plan" | "load" | "unload" | "prepareGrammar">;
  settings: () => Pick<Settings, "contextLength" | "kvType" | "threads" | "defaultModelId">;
  cache: InspectionCache;
  /** What a model's chat template offers; null when the template does not work. */
  featuresOf: (inspection: ModelInspection) => Promise<ChatFeatures | null>;
  emit: (event: AnyEvent) => void;
  /** Look again by itself when a model folder changes. */
  watch?: boolean;
}

export function createLibrary(options: LibraryOptions): Library {
  const { folders, engine, settings, cache, emit } = options;
  const entries = new Map<string, Entry>();
  const shown = new Map<string, string>();
  let running: Promise<Model[]> | null = null;
  let again = false;
  let saidFaults = "";
  let saidCache = "";

  const loadOptions = (entry: Entry): LoadOptions => {
    const { contextLength, kvType, threads } = settings();
    return { path: entry.file.path, backend: "auto", contextLength, kvType, threads };
  };

  /** Says so when the page would see a difference. */
  function changed(entry: Entry): void {
    const model = toModel(entry);
    const text = JSON.stringify(model);
    if (shown.get(model.id) === text || entries.get(model.id) !== entry) return;
    shown.set(model.id, text);
    emit({ name: "model.changed", payload: model });
  }

  const resident = createResident({ engine, loadOptions, onChange: changed });

  function find(modelId: string): Entry {
    const entry = entries.get(modelId);
    if (entry !== undefined) return entry;
    throw new HalogenError("model.not_found", "This model is not in the model folder", {
      hint: `Choose another model, or put the file back into ${folders[0] ?? "the model folder"}.`,
      detail: { modelId },
    });
  }

  const list = (): Model[] =>
    [...entries.values()].map(toModel).sort((a, b) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1));

  async function look(entry: Entry): Promise<void> {
    const cached = cache.get(entry.file);
    Object.assign(entry, { fault: null, loadError: null, inspection: cached, features: null });
    const names = faultOfShards(entry.file);
    if (names !== null) entry.fault = toWire(names);
    else if (cached === null) await inspect(entry);
    entry.study = entry.inspection === null ? null : study(entry, entry.inspection);
  }

  /** Nobody waits for what its template offers: it is told when it is known. Never rejects. */
  async function study(entry: Entry, inspection: ModelInspection): Promise<void> {
    try {
      entry.features = await options.featuresOf(inspection);
    } catch (error) {
      emit(warning(`The chat template of ${entry.file.fileName} could not be looked at`, toWire(error).message));
    }
    changed(entry);
  }

  async function inspect(entry: Entry): Promise<void> {
    try {
      entry.inspection = await engine.inspect(entry.file.path);
      const fault = entry.inspection.supported
        ? null
        : faultOf(entry.file, entry.inspection, (await engine.info()).architectures);
      entry.fault = fault === null ? null : toWire(fault);
      if (fault === null) cache.set(entry.file, entry.inspection);
    } catch (error) {
      const wire = toWire(error);
      // An engine that is not there says nothing about the file: it is looked at again when it is wanted.
      if (wire.code.startsWith("engine.") || wire.code === "transport.closed") entry.loadError = wire;
      else entry.fault = wire;
    }
  }

  async function register(file: ModelFile): Promise<Entry> {
    const known = entries.get(file.id);
    if (
      known !== undefined &&
      known.file.modified === file.modified &&
      known.file.path === file.path &&
      (known.inspection ?? known.fault) !== null
    ) {
      known.file = file;
      return known;
    }
    if (known !== undefined && known.state !== "idle") return known;
    const entry = createEntry(file);
    await look(entry);
    entries.set(file.id, entry);
    changed(entry);
    return entry;
  }

  async function scanOnce(): Promise<Model[]> {
    const { files, faults } = await readModelFolders(folders);
    const text = faults.map((fault) => `${fault.folder}: ${fault.reason}`).join("; ");
    if (text !== saidFaults && text !== "") {
      emit(warning(`A model folder could not be read: ${text}`, "Check that you may read it."));
    }
    saidFaults = text;
    for (const file of files) await register(file);
    const present = new Set(files.map((file) => file.id));
    for (const [modelId, entry] of [...entries]) {
      // A file from elsewhere stays while it is named; one in use stays listed until it is free.
      if (present.has(modelId) || outside.has(modelId) || entry.state !== "idle") continue;
      entries.delete(modelId);
      shown.delete(modelId);
      emit({ name: "model.removed", payload: { modelId } });
    }
    saveCache();
    return list();
  }

  /** Without the cache the next start takes longer, and nothing else. */
  function saveCache(): void {
    try {
      cache.save([...entries.values()].map((entry) => entry.file));
    } catch (error) {
      const { message } = toWire(error);
      if (saidCache !== message)
        emit(warning(`What was read of the models could not be kept: ${message}`, "Check the cache folder."));
      saidCache = message;
    }
  }

  /** A change during a look is not missed: one more look follows. */
  function scan(): Promise<Model[]> {
    if (running !== null) {
      again = true;
      return running;
    }
    running = (async () => {
      try {
        let models: Model[];
        do {
          again = false;
          models = await scanOnce();
        } while (again);
        return models;
      } finally {
        running = null;
      }
    })();
    return running;
  }

  const outside = new Set<string>();

  async function addFile(reference: string): Promise<Model> {
    const path = absolutePath(reference);
    let file: ModelFile;
    try {
      file = await readModelFile(path);
    } catch (error) {
      throw new HalogenError("file.missing", `There is no file ${path}`, { detail: { path }, cause: error });
    }
    const known = [...entries.values()].find((entry) => entry.file.path === file.path);
    if (known !== undefined) return toModel(known);
    outside.add(file.id);
    return toModel(await register(file));
  }

  async function source(modelId: string): Promise<Pick<ModelLease, "path" | "inspection">> {
    const entry = find(modelId);
    if (entry.inspection === null && entry.fault === null) await look(entry);
    const error = entry.fault ?? (entry.inspection === null ? entry.loadError : null);
    if (error !== null) throw fromWire(error);
    if (entry.inspection === null) throw new HalogenError("internal", `${entry.file.fileName} was never read`);
    return { path: entry.file.path, inspection: entry.inspection };
  }

  async function acquire(modelId: string, acquireOptions: AcquireOptions = {}): Promise<ModelLease> {
    const known = await source(modelId);
    const entry = find(modelId);
    const held = await resident.acquire(entry, acquireOptions);
    return { model: toModel(entry), ...known, ...held };
  }

  const watcher =
    options.watch === true ? watchFolders(folders, () => void scan().catch(reportScan), reportWatch) : null;
  function reportWatch(error: unknown): void {
    emit(warning(`A model folder cannot be watched: ${toWire(error).message}`, "New files are seen after a rescan."));
  }

  function reportScan(error: unknown): void {
    const { message, hint } = toWire(error);
    emit(warning(`The model folders could not be read: ${message}`, hint));
  }

  return {
    list,
    get: (modelId) => toModel(find(modelId)),
    async studied(modelId) {
      await find(modelId).study;
      return toModel(find(modelId));
    },
    preferred() {
      const models = list();
      const set = models.find((model) => model.id === settings().defaultModelId && model.state !== "broken");
      return set ?? models.find((model) => model.state !== "broken") ?? null;
    },
    async resolve(reference) {
      const models = list();
      const same = (text: string): boolean => text.toLowerCase() === reference.toLowerCase();
      const named =
        models.find((model) => model.id === reference) ??
        models.find((model) => same(model.fileName)) ??
        models.find((model) => same(model.name));
      if (named !== undefined) return named;
      if (/\.gguf$/i.test(reference) || /[\\/]/.test(reference)) return addFile(reference);
      const names = models.map((model) => model.fileName).join(", ");
      throw new HalogenError("model.not_found", `There is no model "${reference}"`, {
        hint: names === "" ? `Put a GGUF file into ${folders[0] ?? "the model folder"}.` : `There are: ${names}.`,
        detail: { reference },
      });
    },
    scan,
    async plan(modelId) {
      const entry = find(modelId);
      if (entry.fault !== null) throw fromWire(entry.fault);
      entry.plan = await engine.plan(loadOptions(entry));
      changed(entry);
      return entry.plan;
    },
    source,
    acquire,
    async load(modelId) {
      const lease = await acquire(modelId);
      lease.release();
      return toModel(find(modelId));
    },
    async unload(modelId) {
      const entry = find(modelId);
      await resident.unload(entry);
      return toModel(entry);
    },
    async prepareFormat(modelId) {
      const loaded = resident.loaded(find(modelId));
      if (loaded !== null) await engine.prepareGrammar(loaded.handle);
    },
    engineLost: resident.forget,
    async close() {
      watcher?.close();
      await resident.close();
    },
  };
}

function warning(message: string, hint: string): AnyEvent {
  return { name: "notice", payload: { level: "warning", message, hint } };
}
