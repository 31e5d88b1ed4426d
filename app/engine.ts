/**
 * The engine as the rest of Halogen sees it. `native/index.ts` implements it over the addon, the scripted engine of the
 * tests implements it too, and `main/engine/` carries it across a process boundary. Every rejection is a HalogenError.
 */

export type BackendName = "cpu" | "hip" | "cuda" | "vulkan" | "npu" | "remote";
/** How keys and values are kept. Q8_0 has one scale per position and head. What each costs: app/kv-quality.ts. */
export type KvType = "f32" | "f16" | "bf16" | "q8_0";

/** One processor that was looked at, whether it can be used or not. */
export interface Device {
  backend: BackendName;
  name: string;
  usable: boolean;
  /** Why it was chosen or refused, in words for the user. */
  reason: string;
  /** Instruction sets or architecture, e.g. ["avx2", "avx512vnni"] or ["gfx1151"]. */
  features: string[];
  memory: MemoryPool[];
}

/** Bytes. `limit` is what this machine can give in that pool; null when unknown. */
export interface MemoryPool {
  name: string;
  used: number;
  limit: number | null;
}

export interface EngineInfo {
  version: string;
  devices: Device[];
  chosen: BackendName;
  /** Logical threads the CPU backend uses unless told otherwise. */
  threads: number;
  architectures: string[];
  formats: string[];
}

/** What a model file says of itself; read from the header alone. */
export interface ModelInspection {
  path: string;
  bytes: number;
  architecture: string;
  /** False: the file is fine, but this engine has no such architecture (or format) yet; `problem` says which. */
  supported: boolean;
  problem: string;
  name: string;
  sizeLabel: string;
  parameters: number;
  /** Largest share of the weights by format, e.g. "Q4_1", and bytes per format. */
  format: string;
  formats: Record<string, number>;
  contextLength: number;
  embeddingLength: number;
  blockCount: number;
  headCount: number;
  vocabularySize: number;
  /** The model's own chat template; null when the file has none. */
  template: string | null;
  /** Scalar metadata only; arrays are given as "[n]". */
  metadata: Record<string, string | number | boolean>;
}

/**
 * The tokenizer part of a file. Strings are packed: entry i is UTF-8 bytes[offsets[i] .. offsets[i + 1]], so that a quarter of a million
 * entries cross a process boundary as two buffers.
 */
export interface PackedStrings {
  bytes: Uint8Array;
  /** count + 1 entries. */
  offsets: Uint32Array;
}

export interface Vocabulary {
  /** tokenizer.ggml.model: "gpt2" (byte-level BPE), "llama" (SentencePiece), "none", … */
  model: string;
  pre: string;
  tokens: PackedStrings;
  /** tokenizer.ggml.token_type per token: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte. Empty when absent. */
  types: Int32Array;
  /** Empty when absent. */
  scores: Float32Array;
  merges: PackedStrings;
  /** Ids by key without prefix and suffix: "bos", "eos", "eot", "eom", "unknown", "padding", … */
  special: Record<string, number>;
  /** Booleans by key: "add_bos_token", "add_eos_token", "add_space_prefix", "remove_extra_whitespaces". Absent keys are absent. */
  flags: Record<string, boolean>;
  /** Ids that the model's makers never let it generate; empty or absent: none. */
  suppressed?: Int32Array;
}

export interface LoadOptions {
  path: string;
  backend: BackendName | "auto";
  /** Tokens; 0 = the largest that fits, at most the model's own. */
  contextLength: number;
  /** "auto": F16, or Q8_0 where F16 does not fit or would hold much less context; the plan's reason says so. */
  kvType: KvType | "auto";
  /** 0 = the engine's choice. */
  threads: number;
}

/** Exact bytes per pool, before anything is allocated. */
export interface MemoryPlan {
  contextLength: number;
  kvType: KvType;
  weights: number;
  kv: number;
  recurrent: number;
  /** Kept to go back to: states of recurrent layers, keys and values of windows. */
  checkpoints: number;
  scratch: number;
  total: number;
  /** Bytes this machine can give now. */
  available: number;
  fits: boolean;
  /** How context and KV type were chosen, or what is missing, in words. */
  reason: string;
}

export interface LoadedModel {
  handle: number;
  backend: BackendName;
  plan: MemoryPlan;
  loadMilliseconds: number;
}

/** The steps of the chain in their documented order (llama.cpp's). */
export const samplerNames = [
  "penalties",
  "dry",
  "top_n_sigma",
  "top_k",
  "typical_p",
  "top_p",
  "min_p",
  "xtc",
  "temperature",
] as const;
export type SamplerName = (typeof samplerNames)[number];

/**
 * How the next token is chosen. First suppressed tokens leave and biases are added, then the chain runs in `order`, then one token is drawn. A
 * value that is absent is off; the formulas and their sources stand in native/engine/sample/pool.h and history.h.
 */
export interface Sampling {
  /** Divides the logits; 0 = greedy. */
  temperature: number;
  /** Above 0: between temperature ± range, by the entropy's share of the largest possible one to the power of `temperatureExponent` (1). */
  temperatureRange?: number;
  temperatureExponent?: number;
  /** 0 = off. */
  topK: number;
  /** 1 = off. */
  topP: number;
  /** 0 = off. */
  minP: number;
  /** 1 = off. */
  typicalP?: number;
  /** Standard deviations below the largest logit; 0 = off. */
  topNSigma?: number;
  /** 0 = off. */
  xtcProbability?: number;
  /** 0.1 */
  xtcThreshold?: number;
  /** Logits above 0 are divided by it, others multiplied; 1 = off. */
  repetitionPenalty?: number;
  /** Subtracted once from what has come, and once for each time it has come; 0 = off. */
  presencePenalty?: number;
  frequencyPenalty?: number;
  /** Tokens that the three penalties look back, prompt included; 64; -1 = all, 0 = off. */
  penaltyLastN?: number;
  /** 0 = off; the loss is multiplier * base ^ (repeated - allowed) once `dryAllowedLength` tokens are repeated. */
  dryMultiplier?: number;
  /** 1.75 */
  dryBase?: number;
  /** 2 */
  dryAllowedLength?: number;
  /** -1 = all. */
  dryLastN?: number;
  /** Token sequences that no repetition reaches over, each ended by -1. */
  dryBreakers?: Int32Array;
  /** Added to the logit of a token. */
  logitBias?: { token: number; bias: number }[];
  /** Tokens that never come. */
  suppress?: number[];
  /** A step that is not named is left out; default: `samplerNames`. */
  order?: SamplerName[];
  /** null = a fresh one; the one used comes back in the outcome. */
  seed: number | null;
}

/** What a whole reply has to match; where there is a thought before it, what stands behind the thought. */
export interface GrammarSource {
  kind: "json" | "json_schema" | "regex" | "ebnf";
  /** Empty for "json" (an object or array); a schema as JSON text. */
  source: string;
}

/**
 * A thought that may come before a grammar. It is free but has to end: no stop token comes in it. Markers may be texts of several tokens, and reach
 * into a token's middle. Around them stands a little white space.
 */
export interface GrammarThought {
  /** The prompt has opened it. False: the reply may open it, or begin with the grammar at once. */
  begun: boolean;
  /** What a reply may begin with. */
  opens: ThoughtMarker[];
  /** What leads on in a thought; the first that is complete counts. At least one ends it. */
  leads: ThoughtMarker[];
  /** What never comes in a thought, except in `leads`. */
  never: string[];
  /** What may stand, once, before the answer. */
  answers: string[];
}

export interface ThoughtMarker {
  text: string;
  to: "thought" | "answer";
  /** A beginning of `text`, behind which nothing else may come. Absent or "": what only begins like a marker is part of the thought. */
  bound?: string;
}

export interface GenerateRequest {
  handle: number;
  /** The whole sequence so far; the engine finds by itself what it can reuse. */
  tokens: Int32Array;
  sampling: Sampling;
  /** Most tokens to generate; 0 = up to the context's end. */
  maxTokens: number;
  /** The reply has at least so many tokens: before that no stop token comes and no stop sequence counts; 0. */
  minTokens?: number;
  /** Generation ends when one of these is sampled; that token is not delivered. */
  stopTokens: number[];
  /** Generation ends when it ends with one of these; its tokens are not delivered. */
  stopSequences?: Int32Array[];
  /** Faults of it are grammar.invalid, .unsupported or .impossible, with the place in it. The reply ends with `stopTokens`, else the model's own. */
  grammar?: GrammarSource;
  /** Only with a grammar; absent: it begins with the first token. */
  thought?: GrammarThought;
  /** Only with a grammar: what has been read of it already, at the end of `tokens`; a reply that does not fit so far is grammar.impossible. */
  written?: string;
  /** Alternatives to report per token: 0 = none, only the ids. */
  alternatives: number;
}

/** Tokens as they were made; one or more at a time. */
export interface TokenBatch {
  ids: Int32Array;
  /** log probability of each id, natural logarithm, before sampling filters; empty unless alternatives > 0. */
  logprobs: Float32Array;
  /** Per id, `alternatives` ids and log probabilities, best first; empty unless asked for. */
  alternativeIds: Int32Array;
  alternativeLogprobs: Float32Array;
}

export type StopCause = "stop_token" | "stop_sequence" | "grammar" | "length" | "context" | "cancelled";

export interface GenerateOutcome {
  cause: StopCause;
  /** The stop token that ended it; -1 otherwise. */
  stopToken: number;
  /** Place of the stop sequence that ended it in the request; absent or -1 otherwise. */
  stopSequence?: number;
  promptTokens: number;
  /** Of the prompt: taken from kept state, and computed now. reused + recomputed = promptTokens. */
  reused: number;
  recomputed: number;
  generatedTokens: number;
  prefillMilliseconds: number;
  decodeMilliseconds: number;
  seed: number;
}

/**
 * A running generation. Iterate it for batches; nothing is computed far ahead of the reader (back-pressure). `outcome` settles after the last
 * batch. `cancel` ends it within one step; what was made so far is still delivered.
 */
export interface Generation extends AsyncIterable<TokenBatch> {
  readonly outcome: Promise<GenerateOutcome>;
  cancel(): void;
}

/** Progress of a running prefill or load; `done` of `total` in bytes or tokens. */
export interface EngineProgress {
  phase: "load" | "prefill";
  done: number;
  total: number;
}

export interface Engine {
  info(): Promise<EngineInfo>;
  inspect(path: string): Promise<ModelInspection>;
  vocabulary(path: string): Promise<Vocabulary>;
  plan(options: LoadOptions): Promise<MemoryPlan>;
  /** Aborting `signal` ends the load with request.cancelled. */
  load(
    options: LoadOptions,
    onProgress?: (progress: EngineProgress) => void,
    signal?: AbortSignal,
  ): Promise<LoadedModel>;
  unload(handle: number): Promise<void>;
  generate(request: GenerateRequest, onProgress?: (progress: EngineProgress) => void): Generation;
  /** Begins what the first reply with a grammar would wait for, and settles before it is done; again, it does nothing. */
  prepareGrammar(handle: number): Promise<void>;
  /** Log-probabilities of every next token after each of `tokens[from..]`; for checks and benches. Rows of vocabulary size. */
  score(handle: number, tokens: Int32Array, from: number): Promise<Float32Array>;
  memory(): Promise<MemoryPool[]>;
  close(): Promise<void>;
}
