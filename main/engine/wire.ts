/** What crosses the port between main and the engine process. Typed arrays travel as they are: both ports copy structurally. */
import type {
  EngineInfo,
  EngineProgress,
  GenerateOutcome,
  GenerateRequest,
  LoadedModel,
  LoadOptions,
  MemoryPlan,
  MemoryPool,
  ModelInspection,
  TokenBatch,
  Vocabulary,
} from "../../app/engine.ts";
import type { WireError } from "../../app/error.ts";

/** Messages arrive in order, each once, or the process is gone. `post` never throws: a dead peer is reported by its exit. */
export interface Port {
  post(message: unknown): void;
  onMessage(handler: (message: unknown) => void): void;
}

/** Batches that the engine process may send before the reader took one. */
export const creditWindow = 4;

/** One entry a method of Engine that answers once. */
export interface WireCalls {
  info: { arguments: []; value: EngineInfo };
  inspect: { arguments: [path: string]; value: ModelInspection };
  vocabulary: { arguments: [path: string]; value: Vocabulary };
  plan: { arguments: [options: LoadOptions]; value: MemoryPlan };
  load: { arguments: [options: LoadOptions]; value: LoadedModel };
  unload: { arguments: [handle: number]; value: null };
  prepareGrammar: { arguments: [handle: number]; value: null };
  score: { arguments: [handle: number, tokens: Int32Array, from: number]; value: Float32Array };
  memory: { arguments: []; value: MemoryPool[] };
}
export type WireMethod = keyof WireCalls;

type CallMessage = { [M in WireMethod]: { kind: "call"; id: number; method: M; arguments: WireCalls[M]["arguments"] } };

/** From main. */
export type ClientMessage =
  | CallMessage[WireMethod]
  /** Ends a load; its call is still answered. */
  | { kind: "abort"; id: number }
  | { kind: "generate"; id: number; request: GenerateRequest; credit: number }
  | { kind: "credit"; id: number; count: number }
  /** Ends a generation; what was made is sent whatever the credit is. */
  | { kind: "cancel"; id: number }
  | { kind: "ping" }
  /** Ends what runs, closes the engine, answers `closed`. */
  | { kind: "close" };

/** From the engine process. */
export type ServerMessage =
  /** Once, first: the engine is loaded and has looked at the machine. */
  | { kind: "hello"; info: EngineInfo }
  /** Once, in place of `hello`: it cannot be loaded. */
  | { kind: "unable"; error: WireError }
  | { kind: "value"; id: number; value: WireCalls[WireMethod]["value"] }
  /** Ends a call or a generation. */
  | { kind: "fault"; id: number; error: WireError }
  | { kind: "progress"; id: number; progress: EngineProgress }
  | { kind: "batch"; id: number; batch: TokenBatch }
  | { kind: "end"; id: number; outcome: GenerateOutcome }
  | { kind: "pong" }
  | { kind: "closed" };
