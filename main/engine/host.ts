import type { EngineStatus } from "../../app/contract/engine.ts";
import type {
  Engine,
  EngineProgress,
  GenerateRequest,
  Generation,
  LoadedModel,
  LoadOptions,
} from "../../app/engine.ts";
import { HalogenError } from "../../app/error.ts";
import { failedGeneration } from "../../app/generation.ts";
import type { Connection, ConnectionLimits } from "./connection.ts";
import { deferGeneration } from "./defer.ts";
import { type EngineClock, type SpawnEngine, systemClock } from "./process.ts";
import { createSupervisor, type RestartLimits } from "./supervisor.ts";

type Progress = (progress: EngineProgress) => void;

export interface HostOptions {
  /** Starts an engine process; not used in-process. */
  spawn: SpawnEngine;
  /** Run the engine inside this process (a setting). */
  inProcess?: boolean;
  loadInProcess?: () => Engine | Promise<Engine>;
  onStatus?: (status: EngineStatus) => void;
  clock?: EngineClock;
  limits?: Partial<ConnectionLimits & RestartLimits>;
}

/**
 * The engine as main holds it: started at its first use, watched, started again after a crash. Handles stay valid through that: a model is
 * loaded again when it is next used. Calls in flight at a crash reject with engine.crashed.
 */
export interface EngineHost extends Engine {
  /** `modelId` is null here: the host knows files, not ids. */
  status(): EngineStatus;
  /** Process id of the engine, also when that is this process; null when none runs. */
  pid(): number | null;
  /** On the user's wish: ends the engine and starts another one. Models are loaded again when they are next used. */
  restart(): Promise<void>;
}

interface Slot {
  options: LoadOptions;
  loaded: LoadedModel;
  /** Where it is loaded; an earlier connection than the live one means: not any more. */
  connection: Connection;
  /** Its handle there. */
  inner: number;
  reloading: Promise<void> | null;
}

export function createHost(options: HostOptions): EngineHost {
  const supervisor = createSupervisor({
    ...options,
    clock: options.clock ?? systemClock,
    limits: options.limits ?? {},
  });
  const slots = new Map<number, Slot>();
  let nextHandle = 1;

  const slotOf = (handle: number): Slot => {
    supervisor.live();
    const slot = slots.get(handle);
    if (slot === undefined) {
      throw new HalogenError("model.not_loaded", `No model with handle ${handle} is loaded`, { detail: { handle } });
    }
    return slot;
  };

  const reload = async (slot: Slot, connection: Connection, onProgress?: Progress): Promise<void> => {
    // The context it had, not a new choice: what fitted the conversation must fit it again.
    const again = { ...slot.options, contextLength: slot.loaded.plan.contextLength };
    const loaded = await connection.engine.load(again, onProgress);
    slot.connection = connection;
    slot.inner = loaded.handle;
    supervisor.setBackend(loaded.backend);
  };

  /** The live connection, with the slot's model loaded in it. */
  const settle = async (slot: Slot, onProgress?: Progress): Promise<Connection> => {
    for (;;) {
      const connection = await supervisor.connect();
      if (slot.connection === connection) return connection;
      slot.reloading ??= reload(slot, connection, onProgress).finally(() => {
        slot.reloading = null;
      });
      await slot.reloading;
    }
  };

  const generate = (request: GenerateRequest, onProgress?: Progress): Generation => {
    try {
      const slot = slotOf(request.handle);
      if (slot.connection === supervisor.live()) {
        return slot.connection.engine.generate({ ...request, handle: slot.inner }, onProgress);
      }
      return deferGeneration(request, async () => {
        const connection = await settle(slot, onProgress);
        return () => connection.engine.generate({ ...request, handle: slot.inner }, onProgress);
      });
    } catch (error) {
      return failedGeneration(error);
    }
  };

  const load = async (request: LoadOptions, onProgress?: Progress, signal?: AbortSignal): Promise<LoadedModel> => {
    const connection = await abortable(supervisor.connect(), signal);
    const loaded = await connection.engine.load(request, onProgress, signal);
    const handle = nextHandle++;
    slots.set(handle, { options: { ...request }, loaded, connection, inner: loaded.handle, reloading: null });
    supervisor.setBackend(loaded.backend);
    return { ...loaded, handle };
  };

  const unload = async (handle: number): Promise<void> => {
    const slot = slotOf(handle);
    slots.delete(handle);
    // A reload that fails has left nothing behind, and who asked for it was told.
    await slot.reloading?.catch(() => undefined);
    if (slot.connection === supervisor.live()) await slot.connection.engine.unload(slot.inner);
  };

  return {
    info: async () => (await supervisor.connect()).engine.info(),
    inspect: async (path) => (await supervisor.connect()).engine.inspect(path),
    vocabulary: async (path) => (await supervisor.connect()).engine.vocabulary(path),
    plan: async (request) => (await supervisor.connect()).engine.plan(request),
    load,
    unload,
    generate,
    async prepareGrammar(handle) {
      const slot = slotOf(handle);
      // A model that has to be loaded again first is so with the reply that needs it, and the rest as well.
      if (slot.connection === supervisor.live()) await slot.connection.engine.prepareGrammar(slot.inner);
    },
    async score(handle, tokens, from) {
      const slot = slotOf(handle);
      const connection = await settle(slot);
      return connection.engine.score(slot.inner, tokens, from);
    },
    /** Empty while no engine runs: asking for telemetry is no reason to start one. */
    memory: async () => supervisor.live()?.engine.memory() ?? [],
    async close() {
      slots.clear();
      await supervisor.close();
    },
    async restart() {
      await supervisor.restart();
    },
    status: () => supervisor.status(),
    pid: () => supervisor.pid(),
  };
}

async function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(new HalogenError("request.cancelled", "The load was cancelled before it began"));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
