/** The application without a shell: settings, store, engine, library, chat and telemetry, put together and offered as one service. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Handlers, Service } from "../app/contract/client.ts";
import type { EngineStatus } from "../app/contract/engine.ts";
import type { AppInfo, Settings } from "../app/contract/setting.ts";
import { createChat } from "./chat/chat.ts";
import { createFeatureCache } from "./chat/feature-cache.ts";
import { createProber } from "./chat/prober.ts";
import type { ChildArgument } from "./engine/argument.ts";
import { createHost, type EngineHost } from "./engine/host.ts";
import { loadEngine } from "./engine/load.ts";
import type { SpawnEngine } from "./engine/process.ts";
import { createDownloadHandlers } from "./handler/download.ts";
import { createModelHandlers } from "./handler/model.ts";
import { createSessionHandlers } from "./handler/session.ts";
import { createCatalogue } from "./model/catalogue.ts";
import { createDownloads, type Downloads } from "./model/downloads.ts";
import { createInspectionCache } from "./model/inspection-cache.ts";
import { createLibrary, type Library } from "./model/library.ts";
import { createHub, createService } from "./service.ts";
import type { Environment, EnvironmentVariables } from "./setting/environment.ts";
import { readJson, writeJson } from "./setting/json-file.ts";
import { places } from "./setting/place.ts";
import { openSettings, type SettingsFile } from "./setting/settings.ts";
import { openStore } from "./store/open.ts";
import { createMachine } from "./telemetry/machine.ts";
import { createTelemetry } from "./telemetry/telemetry.ts";

export interface ApplicationOptions {
  environment: Environment;
  /** For pip, which takes its index and proxy from there. */
  variables: EnvironmentVariables;
  version: string;
  shell: AppInfo["shell"];
  /** The content of resources/catalogue.json. */
  catalogue: unknown;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** Faults that belong to no call. */
  report(error: unknown): void;
  /** main/chat/probe-thread.ts, or its bundle. Absolute path. */
  probeThread: string;
  /** Starts an engine process that is given this argument. */
  spawnEngine(argument: ChildArgument): SpawnEngine;
  /**
   * "app": chats are stored, model folders are watched, downloads go on, the model of new chats is loaded ahead. "command": nothing of that, so
   * a running app is not in the way; "command-stored": as a command, but chats are stored.
   */
  mode: "app" | "command" | "command-stored";
  /** Settings that hold for this run only. */
  settings?: Partial<Settings> | undefined;
}

export interface Application {
  service: Service;
  settings: SettingsFile;
  library: Library;
  engine: EngineHost;
  report(error: unknown): void;
  /** Stores what streams as interrupted and ends the engine. Takes a few seconds at most. Idempotent. */
  close(): Promise<void>;
}

/** Throws what the settings and the store throw: store.locked, store.newer_schema, … Then nothing is left open. */
export function createApplication(options: ApplicationOptions): Application {
  const { environment, clock, report, mode } = options;
  const place = places(environment);
  const hub = createHub(report);
  const newId = () => randomUUID();
  const app = mode === "app";
  let closing: Promise<void> | null = null;

  const settings = openSettings({
    path: place.settings,
    clock,
    onChange: (value) => hub.emit({ name: "setting.changed", payload: value }),
  });
  const current = (): Settings => ({ ...settings.read(), ...options.settings });
  const catalogue = createCatalogue(options.catalogue, place.models);
  const store = openStore({
    path: mode === "command" ? ":memory:" : place.database,
    clock,
    nativeBinding: environment.sqliteBinding,
    report,
  });
  // Before anything reads it: no process but this one has the file.
  store.markInterrupted();

  const loaded = () => library.list().find((model) => model.state === "loaded") ?? null;
  const engine = createEngine();
  const prober = createProber({ entry: options.probeThread });
  const library = createLibrary({
    folders: environment.modelFolders,
    engine,
    settings: current,
    cache: createInspectionCache({
      version: options.version,
      read: () => readCache(place.inspections, clock, report),
      write: (value) => void attempt(() => writeJson(place.inspections, value)),
    }),
    featuresOf: createFeatureCache(prober),
    emit: hub.emit,
    watch: app,
  });
  const telemetry = createTelemetry({
    engine,
    pids: () => [process.pid, engine.pid()].filter((pid) => pid !== null),
    loadedModel: loaded,
    machine: createMachine(process.platform, { pid: process.pid, rss: () => process.memoryUsage().rss }),
    emit: hub.emit,
    report,
  });
  hub.subscribe(telemetry.observe);
  const chat = createChat({ store, library, engine, prober, emit: hub.emit, clock, newId });
  const downloads = app ? openDownloads() : null;

  const firstScan: Promise<unknown> = app ? library.scan() : Promise.resolve();
  if (app)
    void attempt(async () => {
      await firstScan;
      await warm();
    });
  // What was wrong with the settings file is told to the first page that asks who we are: before that nobody listens.
  const notices = [...settings.notices];

  const handlers: Handlers = {
    async "app.info"() {
      for (const payload of notices.splice(0)) hub.emit({ name: "notice", payload });
      return {
        version: options.version,
        platform: `${process.platform} ${process.arch}`,
        dataFolder: environment.dataFolder,
        modelFolder: place.models,
        shell: options.shell,
      };
    },
    ...createSessionHandlers({ store, emit: hub.emit, newId, stop: chat.stop }),
    ...chat.handlers,
    "chat.send": afterFirstScan(chat.handlers["chat.send"]),
    "chat.edit": afterFirstScan(chat.handlers["chat.edit"]),
    "chat.regenerate": afterFirstScan(chat.handlers["chat.regenerate"]),
    "chat.continue": afterFirstScan(chat.handlers["chat.continue"]),
    ...createModelHandlers(library, firstScan),
    ...createDownloadHandlers(catalogue, downloads),
    "engine.status": async () => statusOf(engine.status()),
    async "engine.restart"() {
      await engine.restart();
      return statusOf(engine.status());
    },
    "telemetry.read": () => telemetry.read(),
    "setting.read": async () => current(),
    "setting.update": async (patch) => settings.update(patch as Partial<Settings>),
  };

  /** Until the folders were looked at there is no model to be found; a look that failed is reported where it was started. */
  function afterFirstScan<Q, A>(handler: (request: Q) => Promise<A>): (request: Q) => Promise<A> {
    return async (request) => {
      await firstScan.catch(() => undefined);
      return handler(request);
    };
  }

  /** The host knows files; which model that is, the library knows. */
  function statusOf(status: EngineStatus): EngineStatus {
    return { ...status, modelId: loaded()?.id ?? null };
  }

  function createEngine(): EngineHost {
    const argument: ChildArgument = {
      module: environment.engineModule ?? null,
      options: environment.addonPath === undefined ? {} : { addonPath: environment.addonPath },
    };
    let lastState: EngineStatus["state"] = "starting";
    return createHost({
      spawn: options.spawnEngine(argument),
      inProcess: environment.engineInProcess ?? current().engineInProcess,
      loadInProcess: () => loadEngine(argument),
      onStatus(status) {
        const lost = lastState === "ready" && status.state !== "ready";
        lastState = status.state;
        if (lost) library.engineLost();
        hub.emit({ name: "engine.changed", payload: statusOf(status) });
      },
    });
  }

  /** The devices and the model of new chats are ready, or nearly so, when the first message is sent. */
  async function warm(): Promise<void> {
    await engine.info();
    const model = library.preferred();
    if (model !== null) await library.load(model.id);
  }

  function openDownloads(): Downloads {
    const { python, proxy } = environment;
    return createDownloads({
      catalogue,
      folder: place.partials,
      queueFile: place.downloads,
      tools: { spawn, platform: process.platform, variables: options.variables, python, proxy },
      emit: hub.emit,
      clock,
      onInstalled: () => void attempt(() => library.scan()),
    });
  }

  /** For what nobody waits for. Closing ends such work in the middle, which is no fault. */
  async function attempt(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (closing === null) report(error);
    }
  }

  /** A hung device must not keep the app from ending: the engine goes after a moment even when its replies do not, and takes them along. */
  async function close(): Promise<void> {
    const replies = chat.close();
    await Promise.race([replies, pause(patience)]);
    telemetry.close();
    prober.close();
    await Promise.all([downloads?.close(), library.close(), engine.close(), replies]);
    store.close();
  }

  return {
    service: createService(handlers, hub),
    settings,
    library,
    engine,
    report,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

const patience = 1000;

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
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
