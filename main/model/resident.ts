/**
 * The one model that is in memory: who uses it, and how the next one takes its place. A model that is in use is never unloaded; who wants
 * another one waits in line.
 */
import type { Engine, EngineProgress, LoadedModel, LoadOptions } from "../../app/engine.ts";
import { HalogenError, toWire } from "../../app/error.ts";
import type { Entry } from "./entry.ts";

export interface AcquireOptions {
  onProgress?: ((progress: EngineProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** The right to use a loaded model until `release`, which is idempotent. */
export interface Hold {
  loaded: LoadedModel;
  release(): void;
}

export interface Resident {
  acquire(entry: Entry, options?: AcquireOptions): Promise<Hold>;
  /** As it is loaded now; null when it is not. */
  loaded(entry: Entry): LoadedModel | null;
  /** Throws session.busy while it is in use. Ends a load that runs. */
  unload(entry: Entry): Promise<void>;
  /** The engine process is gone and its models with it. */
  forget(): void;
  close(): Promise<void>;
}

export interface ResidentOptions {
  engine: Pick<Engine, "load" | "unload">;
  loadOptions: (entry: Entry) => LoadOptions;
  onChange: (entry: Entry) => void;
}

interface Occupant {
  entry: Entry;
  options: LoadOptions;
  loaded: LoadedModel;
  users: number;
}

export function createResident({ engine, loadOptions, onChange }: ResidentOptions): Resident {
  let occupant: Occupant | null = null;
  let loading: { entry: Entry; abort: AbortController } | null = null;
  let line: Promise<void> = Promise.resolve();
  let closed = false;
  const idleWaiters = new Set<() => void>();
  const interested = new Map<Entry, Set<(progress: EngineProgress) => void>>();

  /** One at a time loads or unloads; resolves to the way out. Leaving the line early does not break it. */
  async function enter(signal?: AbortSignal): Promise<() => void> {
    const before = line;
    let leave: () => void = () => {};
    const mine = new Promise<void>((resolve) => {
      leave = resolve;
    });
    line = before.then(() => mine);
    try {
      await abortable(before, signal);
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  async function untilIdle(signal?: AbortSignal): Promise<void> {
    while (occupant !== null && occupant.users > 0) {
      let wake: () => void = () => {};
      const idle = new Promise<void>((resolve) => {
        wake = resolve;
      });
      idleWaiters.add(wake);
      try {
        await abortable(idle, signal);
      } finally {
        idleWaiters.delete(wake);
      }
    }
  }

  function wakeAll(): void {
    for (const wake of [...idleWaiters]) wake();
  }

  function vacate(): Occupant | null {
    const left = occupant;
    occupant = null;
    if (left !== null) {
      left.entry.state = "idle";
      onChange(left.entry);
      wakeAll();
    }
    return left;
  }

  async function drop(): Promise<void> {
    const left = vacate();
    if (left !== null) await engine.unload(left.loaded.handle);
  }

  /** A handle that outlived its engine process: the host may have loaded it again for who still held it. */
  function clear(left: Occupant): void {
    engine.unload(left.loaded.handle).catch(() => {
      // It went with its process, or the engine is closed: there is nothing left to free.
    });
  }

  async function load(entry: Entry, options: LoadOptions, signal?: AbortSignal): Promise<Occupant> {
    const abort = new AbortController();
    const pass = (): void => abort.abort();
    signal?.addEventListener("abort", pass);
    loading = { entry, abort };
    Object.assign(entry, { state: "loading", progress: 0, loadError: null });
    onChange(entry);
    try {
      const loaded = await engine.load(options, (progress) => report(entry, progress), abort.signal);
      if (abort.signal.aborted) {
        await engine.unload(loaded.handle);
        throw cancelled();
      }
      const arrived: Occupant = { entry, options, loaded, users: 0 };
      occupant = arrived;
      Object.assign(entry, { state: "loaded", progress: null, plan: loaded.plan });
      return arrived;
    } catch (error) {
      const wire = toWire(error);
      Object.assign(entry, {
        state: "idle",
        progress: null,
        loadError: wire.code === "request.cancelled" ? null : wire,
      });
      throw error;
    } finally {
      loading = null;
      signal?.removeEventListener("abort", pass);
      onChange(entry);
    }
  }

  function report(entry: Entry, progress: EngineProgress): void {
    for (const listener of interested.get(entry) ?? []) listener(progress);
    const share = progress.total > 0 ? Math.min(1, progress.done / progress.total) : 0;
    // A hundred steps are enough for a bar.
    if (share - (entry.progress ?? 0) < 0.01) return;
    entry.progress = share;
    onChange(entry);
  }

  function hold(of: Occupant): Hold {
    of.users += 1;
    let held = true;
    return {
      loaded: of.loaded,
      release() {
        if (!held) return;
        held = false;
        of.users -= 1;
        if (of.users > 0) return;
        if (of === occupant) wakeAll();
        else clear(of);
      },
    };
  }

  async function acquire(entry: Entry, { onProgress, signal }: AcquireOptions = {}): Promise<Hold> {
    const listeners = interested.get(entry) ?? new Set();
    interested.set(entry, listeners);
    if (onProgress !== undefined) listeners.add(onProgress);
    try {
      const leave = await enter(signal);
      try {
        if (closed) throw new HalogenError("engine.unavailable", "Halogen is closing");
        const wanted = loadOptions(entry);
        // Changed load settings wait until nobody uses the model as it is.
        if (occupant?.entry === entry && (occupant.users > 0 || same(occupant.options, wanted))) return hold(occupant);
        await untilIdle(signal);
        await drop();
        return hold(await load(entry, wanted, signal));
      } finally {
        leave();
      }
    } finally {
      if (onProgress !== undefined) listeners.delete(onProgress);
    }
  }

  return {
    acquire,
    loaded: (entry) => (occupant?.entry === entry ? occupant.loaded : null),
    async unload(entry) {
      if (loading?.entry === entry) loading.abort.abort();
      if (occupant?.entry === entry && occupant.users > 0) {
        throw new HalogenError("session.busy", "This model is writing a reply", { hint: "Stop the reply first." });
      }
      const leave = await enter();
      try {
        if (occupant?.entry === entry && occupant.users === 0) await drop();
      } finally {
        leave();
      }
    },
    forget() {
      const left = vacate();
      if (left !== null && left.users === 0) clear(left);
    },
    async close() {
      closed = true;
      loading?.abort.abort();
      const leave = await enter();
      leave();
    },
  };
}

function same(a: LoadOptions, b: LoadOptions): boolean {
  return (
    a.path === b.path &&
    a.backend === b.backend &&
    a.contextLength === b.contextLength &&
    a.kvType === b.kvType &&
    a.threads === b.threads
  );
}

function cancelled(): HalogenError {
  return new HalogenError("request.cancelled", "Loading the model was stopped");
}

function abortable(work: Promise<void>, signal?: AbortSignal): Promise<void> {
  if (signal === undefined) return work;
  if (signal.aborted) return Promise.reject(cancelled());
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(cancelled());
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
