/** What crosses between the engine's thread and the one that makes masks. */
import type { Vocabulary } from "../../app/engine.ts";
import type { WireError } from "../../app/error.ts";
import type { GrammarRequest } from "./compiler.ts";

export interface WorkerData {
  vocabulary: Vocabulary;
}

/** What may come next; null: nothing but the end. */
export type Offer = Uint32Array | null;

export type ToWorker =
  /** A reply begins, or goes on behind these tokens. Answered, as `accept` is. */
  | { kind: "start"; id: number; request: GrammarRequest; tokens: readonly number[] }
  /** A token was chosen. */
  | { kind: "accept"; id: number; token: number }
  | { kind: "end"; id: number };

export type FromWorker =
  /** Once, first; `endTokens`: what ends a reply of this model. */
  | { kind: "ready"; endTokens: readonly number[] }
  /** Once, in place of `ready`. */
  | { kind: "unable"; error: WireError }
  | { kind: "offer"; id: number; offer: Offer }
  | { kind: "fault"; id: number; error: WireError };
