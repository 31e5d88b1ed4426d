import type {
  Engine,
  EngineProgress,
  GenerateOutcome,
  GenerateRequest,
  Generation,
  LoadedModel,
  LoadOptions,
  TokenBatch,
} from "../../app/engine.ts";
import { fromWire, HalogenError } from "../../app/error.ts";
import { pullGeneration } from "../../app/generation.ts";
import {
  type ClientMessage,
  creditWindow,
  type Port,
  type ServerMessage,
  type WireCalls,
  type WireMethod,
} from "./wire.ts";

type Progress = (progress: EngineProgress) => void;

/** Main's end of the port: an Engine whose work is done by the process behind it. */
export interface EngineClient extends Omit<Engine, "close"> {
  /** Takes every message of the process except `hello`, `unable`, `pong` and `closed`. */
  receive(message: ServerMessage): void;
  /** Ends everything in flight: the process is gone. `reason` makes the error from what was running, in words. */
  fail(reason: (running: string) => HalogenError): void;
  /** True while the engine owes something that it should be able to make progress with. */
  waiting(): boolean;
}

interface PendingCall {
  /** In words, after "while it was". */
  running: string;
  onProgress: Progress | undefined;
  /** A load moves on or is stuck; other calls may be silent for long. */
  watched: boolean;
  resolve(value: unknown): void;
  reject(error: HalogenError): void;
}

interface PendingGeneration {
  queue: TokenBatch[];
  credit: number;
  tokens: number;
  end: { outcome: GenerateOutcome } | { error: HalogenError } | null;
  onProgress: Progress | undefined;
  wake(): void;
}

const fileName = (path: string): string => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);

export function createEngineClient(port: Port): EngineClient {
  const calls = new Map<number, PendingCall>();
  const generations = new Map<number, PendingGeneration>();
  let lost: ((running: string) => HalogenError) | null = null;
  let nextId = 1;

  const post = (message: ClientMessage): void => {
    port.post(message);
  };

  const start = <M extends WireMethod>(
    method: M,
    running: string,
    args: WireCalls[M]["arguments"],
    onProgress?: Progress,
  ): { id: number; value: Promise<WireCalls[M]["value"]> } => {
    const id = nextId++;
    if (lost !== null) return { id, value: Promise.reject(lost(running)) };
    const value = new Promise<WireCalls[M]["value"]>((resolve, reject) => {
      calls.set(id, {
        running,
        onProgress,
        watched: method === "load",
        resolve: (value) => resolve(value as WireCalls[M]["value"]),
        reject,
      });
    });
    post({ kind: "call", id, method, arguments: args } as ClientMessage);
    return { id, value };
  };

  const load = async (options: LoadOptions, onProgress?: Progress, signal?: AbortSignal): Promise<LoadedModel> => {
    if (signal?.aborted) throw new HalogenError("request.cancelled", "The load was cancelled before it began");
    const { id, value } = start("load", `loading ${fileName(String(options.path))}`, [options], onProgress);
    const abort = (): void => post({ kind: "abort", id });
    signal?.addEventListener("abort", abort);
    try {
      return await value;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  };

  const describe = (generation: PendingGeneration): string =>
    generation.tokens === 0 ? "reading a prompt" : `writing a reply (${generation.tokens} tokens so far)`;

  const generate = (request: GenerateRequest, onProgress?: Progress): Generation => {
    const id = nextId++;
    const state: PendingGeneration = {
      queue: [],
      credit: creditWindow,
      tokens: 0,
      end: lost === null ? null : { error: lost("about to reply") },
      onProgress,
      wake: () => undefined,
    };
    if (lost === null) {
      generations.set(id, state);
      post({ kind: "generate", id, request, credit: creditWindow });
    }
    return pullGeneration({
      async next() {
        for (;;) {
          const batch = state.queue.shift();
          if (batch !== undefined) {
            state.credit++;
            if (state.end === null) post({ kind: "credit", id, count: 1 });
            return batch;
          }
          if (state.end !== null) {
            if ("error" in state.end) throw state.end.error;
            return null;
          }
          await new Promise<void>((resolve) => {
            state.wake = resolve;
          });
        }
      },
      outcome: () =>
        state.end !== null && "outcome" in state.end
          ? Promise.resolve(state.end.outcome)
          : Promise.reject(new HalogenError("internal", "An outcome was asked for before the end")),
      cancel() {
        if (state.end === null) post({ kind: "cancel", id });
      },
    });
  };

  const endGeneration = (id: number, end: NonNullable<PendingGeneration["end"]>): boolean => {
    const state = generations.get(id);
    if (state === undefined) return false;
    generations.delete(id);
    state.end = end;
    state.wake();
    return true;
  };

  return {
    info: () => start("info", "looking at the machine", []).value,
    inspect: (path) => start("inspect", `reading ${fileName(String(path))}`, [path]).value,
    vocabulary: (path) => start("vocabulary", `reading the vocabulary of ${fileName(String(path))}`, [path]).value,
    plan: (options) => start("plan", `planning memory for ${fileName(String(options.path))}`, [options]).value,
    load,
    unload: async (handle) => {
      await start("unload", "unloading a model", [handle]).value;
    },
    generate,
    prepareGrammar: async (handle) => {
      await start("prepareGrammar", "making ready for a grammar", [handle]).value;
    },
    score: (handle, tokens, from) => start("score", `scoring ${tokens.length} tokens`, [handle, tokens, from]).value,
    memory: () => start("memory", "counting memory", []).value,

    receive(message) {
      switch (message.kind) {
        case "value":
          calls.get(message.id)?.resolve(message.value);
          calls.delete(message.id);
          break;
        case "fault":
          if (endGeneration(message.id, { error: fromWire(message.error) })) break;
          calls.get(message.id)?.reject(fromWire(message.error));
          calls.delete(message.id);
          break;
        case "progress":
          (calls.get(message.id) ?? generations.get(message.id))?.onProgress?.(message.progress);
          break;
        case "batch": {
          const state = generations.get(message.id);
          if (state === undefined) break;
          state.credit--;
          state.tokens += message.batch.ids.length;
          state.queue.push(message.batch);
          state.wake();
          break;
        }
        case "end":
          endGeneration(message.id, { outcome: message.outcome });
          break;
        default:
          break;
      }
    },

    fail(reason) {
      lost = reason;
      for (const [id, state] of [...generations]) endGeneration(id, { error: reason(describe(state)) });
      for (const call of calls.values()) call.reject(reason(call.running));
      calls.clear();
    },

    waiting() {
      for (const state of generations.values()) if (state.credit > 0) return true;
      for (const call of calls.values()) if (call.watched) return true;
      return false;
    },
  };
}
