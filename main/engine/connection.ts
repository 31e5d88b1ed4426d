import type { Engine, EngineInfo } from "../../app/engine.ts";
import { fromWire, HalogenError } from "../../app/error.ts";
import { createEngineClient } from "./client.ts";
import type { EngineClock, EngineProcess, ProcessExit, SpawnEngine } from "./process.ts";
import type { ClientMessage, ServerMessage } from "./wire.ts";

/** Milliseconds. */
export interface ConnectionLimits {
  /** From the start to `hello`: loading the addon and probing devices. */
  start: number;
  /** Between heartbeats. */
  heartbeat: number;
  /** Without any message, although asked: the process is hung. */
  hang: number;
  /** Without progress in a load or reply that is owed: the device is hung. */
  stall: number;
  /** For an orderly end, then it is killed. */
  close: number;
}

export const connectionLimits: ConnectionLimits = {
  start: 60_000,
  heartbeat: 5_000,
  hang: 60_000,
  stall: 300_000,
  close: 3_000,
};

/** A ready engine, wherever it runs. */
export interface Connection {
  engine: Omit<Engine, "close">;
  info: EngineInfo;
  pid: number | null;
  /** Ends it; settles when it is gone. Never rejects. */
  close(): Promise<void>;
}

export interface ProcessConnection {
  /** Rejects when the process cannot be started, with the reason it gave, or with engine.crashed or engine.timeout. */
  ready: Promise<Connection>;
  /** Gives up at once, in any state. */
  kill(): void;
}

/** What to do depends on what was lost. */
function crashHint(running: string, signal: string | null): string {
  // On Linux that is how the kernel ends the largest process when memory runs out.
  const memory = signal === "SIGKILL" ? " If memory ran out, choose a smaller model or a shorter context." : "";
  if (running === "starting") return `Run \`halogen doctor\` in a terminal to see what the engine says.${memory}`;
  const kept = running.startsWith("writing") ? "What the reply had so far is kept. " : "";
  return `${kept}The engine starts again by itself and loads the model for the next message.${memory}`;
}

function describeExit({ code, signal }: ProcessExit): string {
  if (signal !== null) return `was ended by ${signal}`;
  return code === null ? "could not be started" : `ended with exit code ${code}`;
}

function crashError(exit: ProcessExit, running: string): HalogenError {
  const doing = running === "" ? "" : ` while it was ${running}`;
  return new HalogenError("engine.crashed", `The engine process ${describeExit(exit)}${doing}`, {
    hint: crashHint(running, exit.signal),
    detail: { exitCode: exit.code, signal: exit.signal, running, stderr: exit.stderr },
  });
}

export interface ConnectOptions {
  spawn: SpawnEngine;
  clock: EngineClock;
  limits: ConnectionLimits;
  /** Called when a process that was ready is gone unasked, before anything in flight is told. */
  onLost: (error: HalogenError) => void;
}

/** Starts one engine process and watches it until it is gone. */
export function connectProcess({ spawn, clock, limits, onLost }: ConnectOptions): ProcessConnection {
  const child: EngineProcess = spawn();
  const client = createEngineClient(child);
  let state: "starting" | "ready" | "closing" | "gone" = "starting";
  /** Why it is being killed, when that was our decision. */
  let verdict: ((running: string) => HalogenError) | null = null;
  let heard = true;
  let moved = true;
  let silent = 0;
  let stalled = 0;
  let stopTimer: () => void = () => undefined;
  let resolveReady: (connection: Connection) => void = () => undefined;
  let rejectReady: (error: HalogenError) => void = () => undefined;
  let resolveGone: () => void = () => undefined;
  const ready = new Promise<Connection>((resolve, reject) => {
    resolveReady = resolve;
    rejectReady = reject;
  });
  const gone = new Promise<void>((resolve) => {
    resolveGone = resolve;
  });
  ready.catch(() => undefined);

  const post = (message: ClientMessage): void => child.post(message);

  const condemn = (reason: (running: string) => HalogenError): void => {
    verdict ??= reason;
    child.kill();
  };

  const beat = (): void => {
    stopTimer = clock.after(limits.heartbeat, () => {
      if (state !== "ready") return;
      // Counted in beats, not by the clock: after a suspend the clock has jumped, but only one beat was missed.
      silent = heard ? 0 : silent + limits.heartbeat;
      stalled = moved || !client.waiting() ? 0 : stalled + limits.heartbeat;
      heard = false;
      moved = false;
      if (silent >= limits.hang || stalled >= limits.stall) {
        const seconds = Math.round(Math.max(silent, stalled) / 1000);
        const what = silent >= limits.hang ? "did not answer" : "made no progress";
        condemn(
          (running) =>
            new HalogenError("engine.crashed", `The engine process ${what} for ${seconds} s and was ended`, {
              hint: crashHint(running, null),
              detail: { seconds, running },
            }),
        );
        return;
      }
      post({ kind: "ping" });
      beat();
    });
  };

  const close = (): Promise<void> => {
    if (state === "ready") {
      state = "closing";
      stopTimer();
      post({ kind: "close" });
      stopTimer = clock.after(limits.close, () => child.kill());
    }
    return gone;
  };

  child.onMessage((raw) => {
    const message = raw as ServerMessage;
    heard = true;
    if (message.kind === "hello") {
      if (state !== "starting") return;
      state = "ready";
      stopTimer();
      beat();
      resolveReady({ engine: client, info: message.info, pid: child.pid, close });
    } else if (message.kind === "unable") {
      condemn(() => fromWire(message.error));
    } else if (message.kind === "closed") {
      child.kill();
    } else if (message.kind !== "pong") {
      moved = true;
      client.receive(message);
    }
  });

  child.onExit((exit) => {
    const asked = state === "closing" && verdict === null;
    const before = state;
    state = "gone";
    stopTimer();
    const reason =
      verdict ??
      (asked
        ? () => new HalogenError("engine.unavailable", "The engine was closed")
        : (running: string) => crashError(exit, running));
    const error = reason(before === "starting" ? "starting" : "");
    if (before === "ready") onLost(error);
    client.fail(reason);
    rejectReady(error);
    resolveGone();
  });

  stopTimer = clock.after(limits.start, () => {
    const seconds = Math.round(limits.start / 1000);
    condemn(
      () =>
        new HalogenError("engine.timeout", `The engine process was not ready after ${seconds} s and was ended`, {
          hint: "A graphics driver may hang: try another backend, or restart the machine.",
          detail: { seconds },
        }),
    );
  });

  return {
    ready,
    kill() {
      if (state === "starting" || state === "ready") {
        condemn(() => new HalogenError("engine.unavailable", "The engine was closed"));
      }
    },
  };
}
