import type { EngineStatus } from "../../app/contract/engine.ts";
import type { Engine } from "../../app/engine.ts";
import { HalogenError, toWire } from "../../app/error.ts";
import {
  type Connection,
  type ConnectionLimits,
  connectionLimits,
  connectProcess,
  type ProcessConnection,
} from "./connection.ts";
import type { EngineClock, SpawnEngine } from "./process.ts";

export interface RestartLimits {
  /** Milliseconds before the first restart; doubled with each crash in a row. */
  firstDelay: number;
  longestDelay: number;
  /** A process that lived this long ends a row of crashes. Milliseconds. */
  stable: number;
  /** After so many crashes in a row it is started only when it is needed. */
  attempts: number;
}

export const restartLimits: RestartLimits = { firstDelay: 250, longestDelay: 10_000, stable: 60_000, attempts: 5 };

export interface SupervisorOptions {
  spawn: SpawnEngine;
  inProcess?: boolean;
  loadInProcess?: () => Engine | Promise<Engine>;
  onStatus?: (status: EngineStatus) => void;
  clock: EngineClock;
  limits: Partial<ConnectionLimits & RestartLimits>;
}

/** Keeps one engine running: starts it at its first use, again after a crash with growing delays, never after `close`. */
export interface Supervisor {
  /** The live engine; starts one when there is none. */
  connect(): Promise<Connection>;
  /** Throws engine.unavailable after `close`. */
  live(): Connection | null;
  /** Null when no engine runs. */
  pid(): number | null;
  status(): EngineStatus;
  setBackend(backend: string): void;
  /** Ends the live engine and starts another one, whatever state it is in. What was in flight is told engine.unavailable. */
  restart(): Promise<Connection>;
  close(): Promise<void>;
}

/** What starts a process or loads the addon may throw anything; who waits for the engine gets one kind. */
function startFault(error: unknown): HalogenError {
  if (error instanceof HalogenError) return error;
  const words = error instanceof Error ? error.message : String(error);
  return new HalogenError("engine.unavailable", `The engine could not be started: ${words}`, { cause: error });
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const limits = { ...connectionLimits, ...restartLimits, ...options.limits };
  const { clock } = options;
  const inProcess = options.inProcess === true;
  let status: EngineStatus = {
    state: "starting",
    restarts: 0,
    lastCrash: null,
    backend: null,
    devices: [],
    modelId: null,
    inProcess,
  };
  let connection: Connection | null = null;
  let connecting: Promise<Connection> | null = null;
  let starting: ProcessConnection | null = null;
  let closing: Promise<void> | null = null;
  let crashesInARow = 0;
  let readyAt = 0;
  let crashed = false;
  let wakeEarly: () => void = () => undefined;

  const change = (patch: Partial<EngineStatus>): void => {
    status = { ...status, ...patch };
    options.onStatus?.(status);
  };

  const closedError = (): HalogenError => new HalogenError("engine.unavailable", "The engine is closed");

  const delay = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      const stop = clock.after(milliseconds, resolve);
      wakeEarly = () => {
        stop();
        resolve();
      };
    });

  const startProcess = async (): Promise<Connection> => {
    let ready: Connection | null = null;
    let early: HalogenError | null = null;
    const onLost = (error: HalogenError): void => {
      if (ready !== null && connection === ready) lost(error);
      else early = error;
    };
    const attempt = connectProcess({ spawn: options.spawn, clock, limits, onLost });
    starting = attempt;
    try {
      ready = await attempt.ready;
      if (early !== null) throw early;
      return ready;
    } finally {
      starting = null;
    }
  };

  const startInside = async (): Promise<Connection> => {
    if (options.loadInProcess === undefined) {
      throw new HalogenError("engine.unavailable", "No engine was given that can run in this process");
    }
    const engine = await options.loadInProcess();
    return { engine, info: await engine.info(), pid: process.pid, close: () => engine.close() };
  };

  const open = async (wait: number): Promise<Connection> => {
    if (wait > 0) await delay(wait);
    if (closing !== null) throw closedError();
    change({ state: crashed ? "restarting" : "starting" });
    let opened: Connection;
    try {
      opened = await (inProcess ? startInside() : startProcess());
    } catch (error) {
      const fault = startFault(error);
      if (closing === null) failedToStart(fault);
      throw fault;
    }
    if (closing !== null) {
      await opened.close();
      throw closedError();
    }
    connection = opened;
    readyAt = clock.now();
    const restarts = status.restarts + (crashed ? 1 : 0);
    crashed = false;
    change({ state: "ready", restarts, backend: opened.info.chosen, devices: opened.info.devices });
    return opened;
  };

  const begin = (wait: number): Promise<Connection> => {
    connecting = open(wait).finally(() => {
      connecting = null;
    });
    connecting.catch(() => undefined);
    return connecting;
  };

  /** It ran and is gone. The next one is started now, so that the next message need not wait for it. */
  const lost = (error: HalogenError): void => {
    connection = null;
    crashed = true;
    crashesInARow = clock.now() - readyAt >= limits.stable ? 1 : crashesInARow + 1;
    if (closing !== null) return;
    const giveUp = crashesInARow > limits.attempts;
    change({ state: giveUp ? "failed" : "restarting", lastCrash: toWire(error), backend: null });
    if (!giveUp) void begin(Math.min(limits.firstDelay * 2 ** (crashesInARow - 1), limits.longestDelay));
  };

  /** It never ran: trying again by itself would give the same, so the next use tries. */
  const failedToStart = (error: HalogenError): void => {
    crashed = true;
    change({ state: "failed", lastCrash: toWire(error), backend: null });
  };

  return {
    connect() {
      if (closing !== null) return Promise.reject(closedError());
      if (connection !== null) return Promise.resolve(connection);
      return connecting ?? begin(0);
    },
    live() {
      if (closing !== null) throw closedError();
      return connection;
    },
    pid: () => connection?.pid ?? null,
    status: () => status,
    setBackend: (backend) => change({ backend }),
    async restart() {
      crashesInARow = 0;
      // One that is starting, or waits to start, is new enough: it only need not wait.
      wakeEarly();
      if (connecting !== null) return connecting;
      const old = connection;
      connection = null;
      if (old !== null) {
        change({ state: "restarting", backend: null });
        await old.close();
      }
      return this.connect();
    },
    close() {
      closing ??= (async () => {
        starting?.kill();
        wakeEarly();
        await connecting?.catch(() => undefined);
        await connection?.close();
        connection = null;
        change({ state: "closed", backend: null });
      })();
      return closing;
    },
  };
}
