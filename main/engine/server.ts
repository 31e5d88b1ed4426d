import type { Engine, GenerateRequest, Generation } from "../../app/engine.ts";
import { HalogenError, toWire } from "../../app/error.ts";
import type { ClientMessage, Port, ServerMessage, WireCalls, WireMethod } from "./wire.ts";

export interface EngineServer {
  /** Cancels what runs, waits for its end to be sent, closes the engine. Idempotent. */
  close(): Promise<void>;
}

interface Stream {
  credit: number;
  cancelled: boolean;
  generation: Generation | null;
  wake(): void;
}

/** The engine process's end of the port. `onCloseRequest` is told when main asks for the end. */
export function serveEngine(engine: Engine, port: Port, onCloseRequest: () => void = () => undefined): EngineServer {
  const loads = new Map<number, AbortController>();
  const streams = new Map<number, Stream>();
  const running = new Set<Promise<void>>();
  let closing: Promise<void> | null = null;

  const post = (message: ServerMessage): void => {
    port.post(message);
  };

  const call = async (message: ClientMessage & { kind: "call" }): Promise<WireCalls[WireMethod]["value"]> => {
    switch (message.method) {
      case "info":
        return engine.info();
      case "inspect":
        return engine.inspect(...message.arguments);
      case "vocabulary":
        return engine.vocabulary(...message.arguments);
      case "plan":
        return engine.plan(...message.arguments);
      case "load": {
        const control = new AbortController();
        loads.set(message.id, control);
        try {
          const report = (progress: { phase: "load" | "prefill"; done: number; total: number }): void =>
            post({ kind: "progress", id: message.id, progress });
          return await engine.load(message.arguments[0], report, control.signal);
        } finally {
          loads.delete(message.id);
        }
      }
      case "unload":
        await engine.unload(...message.arguments);
        return null;
      case "prepareGrammar":
        await engine.prepareGrammar(...message.arguments);
        return null;
      case "score":
        return engine.score(...message.arguments);
      case "memory":
        return engine.memory();
      default:
        throw new HalogenError("internal", "The engine process does not know this call");
    }
  };

  const answer = async (message: ClientMessage & { kind: "call" }): Promise<void> => {
    try {
      post({ kind: "value", id: message.id, value: await call(message) });
    } catch (error) {
      post({ kind: "fault", id: message.id, error: toWire(error) });
    }
  };

  const stream = async (id: number, request: GenerateRequest, state: Stream): Promise<void> => {
    try {
      const generation = engine.generate(request, (progress) => post({ kind: "progress", id, progress }));
      state.generation = generation;
      const batches = generation[Symbol.asyncIterator]();
      for (;;) {
        while (state.credit <= 0 && !state.cancelled) {
          await new Promise<void>((resolve) => {
            state.wake = resolve;
          });
        }
        const step = await batches.next();
        if (step.done === true) break;
        state.credit--;
        post({ kind: "batch", id, batch: step.value });
      }
      post({ kind: "end", id, outcome: await generation.outcome });
    } catch (error) {
      post({ kind: "fault", id, error: toWire(error) });
    } finally {
      streams.delete(id);
    }
  };

  const track = (work: Promise<void>): void => {
    running.add(work);
    void work.finally(() => running.delete(work));
  };

  const cancel = (state: Stream): void => {
    state.cancelled = true;
    state.generation?.cancel();
    state.wake();
  };

  const close = (): Promise<void> => {
    closing ??= (async () => {
      for (const control of loads.values()) control.abort();
      for (const state of streams.values()) cancel(state);
      await Promise.all(running);
      await engine.close();
    })();
    return closing;
  };

  port.onMessage((raw) => {
    const message = raw as ClientMessage;
    switch (message.kind) {
      case "call":
        track(answer(message));
        break;
      case "generate": {
        const state: Stream = { credit: message.credit, cancelled: false, generation: null, wake: () => undefined };
        streams.set(message.id, state);
        track(stream(message.id, message.request, state));
        break;
      }
      case "credit": {
        const state = streams.get(message.id);
        if (state === undefined) break;
        state.credit += message.count;
        state.wake();
        break;
      }
      case "cancel": {
        const state = streams.get(message.id);
        if (state !== undefined) cancel(state);
        break;
      }
      case "abort":
        loads.get(message.id)?.abort();
        break;
      case "ping":
        post({ kind: "pong" });
        break;
      case "close":
        onCloseRequest();
        break;
    }
  });

  return { close };
}
