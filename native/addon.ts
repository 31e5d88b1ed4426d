/** What halogen.node exports, by hand: keep it beside native/addon/*_object.h. Only native/index.ts uses it. */
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
} from "../app/engine.ts";

export interface AddonOptions {
  /** "" = the best the CPU has. */
  cpuVariant: string;
  threads: number;
  pinThreads: boolean;
}

type OnProgress = ((progress: EngineProgress) => void) | undefined;

/** Rejections are Errors with `code`, `hint` and `detail`. */
export interface AddonGeneration {
  /** One at a time; null at the end. */
  next(): Promise<TokenBatch | null>;
  /** After the end only. */
  outcome(): GenerateOutcome;
  cancel(): void;
  /** What the next token of a constrained request may be; null ends it with "grammar". Once at first, then once after each `onSampled`. */
  allow(mask: Uint32Array | null): void;
}

export interface AddonEngine {
  info(): Promise<EngineInfo>;
  inspect(path: string): Promise<ModelInspection>;
  vocabulary(path: string): Promise<Vocabulary>;
  plan(options: LoadOptions): Promise<MemoryPlan>;
  load(options: LoadOptions, onProgress: OnProgress): { value: Promise<LoadedModel>; cancel(): void };
  unload(handle: number): Promise<void>;
  /** Throws the request's faults. */
  generate(
    request: Omit<GenerateRequest, "grammar" | "thought" | "written"> & { constrained?: boolean },
    onProgress: OnProgress,
    onSampled?: (id: number) => void,
  ): AddonGeneration;
  score(handle: number, tokens: Int32Array, from: number): Promise<Float32Array>;
  memory(): Promise<MemoryPool[]>;
  close(): Promise<void>;
  /** Blocks until every engine of this environment is cancelled and joined. */
  shutdown(): void;
}

export interface Addon {
  Engine: new (options: AddonOptions) => AddonEngine;
}
