/** The application without a shell: settings, store, engine, library, chat and telemetry, put together and offered as one service. */
import { randomUUID } from "node:crypto";
import type { Handlers, Service } from "../app/contract/client.ts";
import type { EngineStatus } from "../app/contract/engine.ts";
import type { AppInfo, Settings } from "../app/contract/setting.ts";
import type { Engine } from "../app/engine.ts";
import { HalogenError } from "../app/error.ts";
import type { ChildArgument } from "./engine/argument.ts";
import { createHost } from "./engine/host.ts";
import { loadEngine } from "./engine/load.ts";
import type { SpawnEngine } from "./engine/process.ts";
import { createModelHandlers } from "./handler/model.ts";
import { createSessionHandlers } from "./handler/session.ts";
import { createInspectionCache } from "./model/inspection-cache.ts";
import { createLibrary, type Library } from "./model/library.ts";
import { createHub, createService } from "./service.ts";
import type { Environment } from "./setting/environment.ts";
import { readJson, writeJson } from "./setting/json-file.ts";
import { places } from "./setting/place.ts";
import { openSettings, type SettingsFile } from "./setting/settings.ts";
import { openStore } from "./store/open.ts";

export interface ApplicationOptions {
  environment: Environment;
  version: string;
  shell: AppInfo["shell"];
  /** Milliseconds since the epoch. */
  clock(): number;
  /** Faults that belong to no call. */
  report(error: unknown): void;
  /** Starts an engine process that is given this argument. */
  spawnEngine(argument: ChildArgument): SpawnEngine;
  /** "memory": nothing is stored, and another Halogen may run. Default: the file of the environment. */
  store?: "file" | "memory" | undefined;
  /** Notice new files in the model folders by itself. */
  watch?: boolean | undefined;
  /** Settings that hold for this run only. */
  settings?: Partial<Settings> | undefined;
}

export interface Application {
  service: Service;
  settings: SettingsFile;
  library: Library;
  engine: Engine;
  report(error: unknown): void;
  /** Ends what streams, stores it, ends the engine. Idempotent. */
  close(): Promise<void>;
}

export async function createApplication(options: ApplicationOptions): Promise<Application> {
  const { environment, clock, report } = options;
  const place = places(environment);
  const hub = createHub(report);
  const newId = () => randomUUID();

  const settings = openSettings({
    path: place.settings,
    clock,
    onChange: (value) => hub.emit({ name: "setting.changed", payload: value }),
  });
  const current = (): Settings => ({ ...settings.read(), ...options.settings });
  const store = openStore({
    path: options.store === "memory" ? ":memory:" : place.database,
    clock,
    nativeBinding: environment.sqliteBinding,
  });

  const statusOf = (status: EngineStatus): EngineStatus => ({
    ...status,
    modelId: library.list().find((model) => model.state === "loaded")?.id ?? null,
  });
  let lastState: EngineStatus["state"] = "starting";
  const argument: ChildArgument = {
    module: environment.engineModule ?? null,
    options: environment.addonPath === undefined ? {} : { addonPath: environment.addonPath },
  };
  const engine = createHost({
    spawn: options.spawnEngine(argument),
    inProcess: environment.engineInProcess ?? current().engineInProcess,
    loadInProcess: () => loadEngine(argument),
    onStatus(status) {
      const lost = lastState === "ready" && (status.state === "restarting" || status.state === "failed");
      lastState = status.state;
      if (lost) library.engineLost();
      hub.emit({ name: "engine.changed", payload: statusOf(status) });
    },
  });
  const cache = createInspectionCache({
    version: options.version,
    read: () => readCache(place.inspections, clock, report),
    write: (value) => writeJson(place.inspections, value),
  });
  const library = createLibrary({
    folders: environment.modelFolders,
    engine,
    settings: current,
    cache,
    emit: hub.emit,
    watch: options.watch === true,
  });

  const missing = async (): Promise<never> => {
    throw new HalogenError("internal", "not there yet");
  };
  const handlers: Handlers = {
    "app.info": async () => ({
      version: options.version,
      platform: `${process.platform} ${process.arch}`,
      dataFolder: environment.dataFolder,
      modelFolder: environment.modelFolders[0],
      shell: options.shell,
    }),
    ...createSessionHandlers({ store, emit: hub.emit, newId, stop: async () => undefined }),
    "chat.send": missing,
    "chat.regenerate": missing,
    "chat.edit": missing,
    "chat.continue": missing,
    "chat.stop": missing,
    ...createModelHandlers(library, Promise.resolve()),
    "catalogue.list": async () => ({ entries: [] }),
    "download.list": async () => ({ downloads: [] }),
    "download.start": missing,
    "download.cancel": missing,
    "engine.status": async () => statusOf(engine.status()),
    "engine.restart": missing,
    "telemetry.read": missing,
    "setting.read": async () => current(),
    "setting.update": async (patch) => settings.update(patch as Partial<Settings>),
  };

  let closing: Promise<void> | null = null;
  async function close(): Promise<void> {
    await library.close();
    await engine.close();
    store.close();
  }

  return {
    service: createService(handlers, hub),
    settings,
    library,
    engine,
    report,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** A cache that cannot be read is an empty one; the reason is still told. */
function readCache(path: string, clock: () => number, report: (error: unknown) => void): unknown {
  try {
    const reading = readJson(path, clock());
    return reading.state === "read" ? reading.value : null;
  } catch (error) {
    report(error);
    return null;
  }
}
