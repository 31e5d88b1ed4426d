/** Memory, speed and context fill: once a second while something runs or somebody looks, and not at all otherwise. */
import type { Telemetry } from "../../app/contract/engine.ts";
import type { AnyEvent } from "../../app/contract/event.ts";
import type { Model } from "../../app/contract/model.ts";
import type { Engine } from "../../app/engine.ts";
import { createActivity } from "./activity.ts";
import type { Machine } from "./machine.ts";

export interface TelemetrySource {
  read(): Promise<Telemetry>;
  /** To be given every event of the hub. */
  observe(event: AnyEvent): void;
  /** Keeps it going until the returned function is called. */
  watch(): () => void;
  close(): void;
}

export interface TelemetryOptions {
  engine: Pick<Engine, "memory">;
  /** Of the processes that count as Halogen: main and, when it runs, the engine's. */
  pids: () => number[];
  /** The model in memory; null when there is none. */
  loadedModel: () => Model | null;
  machine: Machine;
  emit: (event: AnyEvent) => void;
  /** Faults of a sample, each kind once. */
  report: (error: unknown) => void;
  everyMilliseconds?: number;
}

export function createTelemetry(options: TelemetryOptions): TelemetrySource {
  const { engine, pids, loadedModel, machine, emit, report, everyMilliseconds = 1000 } = options;
  const activity = createActivity();
  let timer: NodeJS.Timeout | null = null;
  let watchers = 0;
  let closed = false;
  let sampling = false;
  let again = false;
  let reported = "";

  /** The engine may be starting or gone: then there are no pools to show, and its own status says why. */
  async function pools(): Promise<Telemetry["memory"]> {
    try {
      return await engine.memory();
    } catch {
      return [];
    }
  }

  async function read(): Promise<Telemetry> {
    const [memory, whole, resident] = await Promise.all([
      pools(),
      machine.memory(),
      Promise.all([...new Set(pids())].map((pid) => machine.residentBytes(pid))),
    ]);
    const model = loadedModel();
    return {
      modelId: model?.id ?? null,
      modelName: model?.name ?? null,
      tokensPerSecond: activity.tokensPerSecond(),
      contextUsed: activity.contextUsed(),
      contextLength: model?.plan?.contextLength ?? 0,
      memory,
      processBytes: resident.reduce((sum: number, bytes) => sum + (bytes ?? 0), 0),
      machineUsed: whole.used,
      machineTotal: whole.total,
    };
  }

  /** Never two at a time: a slow engine makes fewer samples, not a queue of them. */
  async function sample(): Promise<void> {
    if (sampling) {
      again = true;
      return;
    }
    sampling = true;
    try {
      do {
        again = false;
        const payload = await read();
        if (!closed) emit({ name: "telemetry.changed", payload });
      } while (again && !closed);
    } catch (error) {
      const text = String(error);
      if (text !== reported) report(error);
      reported = text;
    } finally {
      sampling = false;
    }
  }

  function adjust(): void {
    const wanted = !closed && (watchers > 0 || activity.active());
    if (wanted && timer === null) {
      timer = setInterval(() => void sample(), everyMilliseconds);
      timer.unref();
    } else if (!wanted && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
  }

  return {
    read,
    observe(event) {
      if (!activity.observe(event)) return;
      adjust();
      void sample();
    },
    watch() {
      watchers += 1;
      adjust();
      void sample();
      let watching = true;
      return () => {
        if (!watching) return;
        watching = false;
        watchers -= 1;
        adjust();
      };
    },
    close() {
      closed = true;
      adjust();
    },
  };
}
