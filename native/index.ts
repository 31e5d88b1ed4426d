/** The native engine: finds and loads the addon, checks what it is given, turns its errors into HalogenErrors. */
import type { Engine, EngineProgress, GenerateRequest, Generation, LoadedModel, LoadOptions } from "../app/engine.ts";
import {
  checkGenerateRequest,
  checkHandle,
  checkLoadOptions,
  checkPath,
  checkScoreRequest,
  largestThreads,
} from "../app/engine-check.ts";
import { fromWire, HalogenError, type WireError } from "../app/error.ts";
import { failedGeneration, pullGeneration } from "../app/generation.ts";
import type { AddonEngine } from "./addon.ts";
import { constrainedSource } from "./grammar/constrain.ts";
import { createGrammarService, type GrammarService } from "./grammar/service.ts";
import { addonCandidates, loadAddon } from "./load.ts";

export interface NativeEngineOptions {
  /** halogen.node itself; default: the packaged one, else build/Release above this file. */
  addonPath?: string;
  /** Narrowest CPU kernels allowed; "" = the best the CPU has. */
  cpuVariant?: "" | "reference" | "avx2" | "avx512";
  /** 0 = one a physical core. */
  threads?: number;
  pinThreads?: boolean;
}

const cpuVariants: readonly unknown[] = ["", "reference", "avx2", "avx512"];

function refuse(parameter: string, expected: string, value: unknown): never {
  throw new HalogenError("request.invalid", `${parameter} must be ${expected}, not ${String(value)}`, {
    detail: { parameter, expected, value: String(value) },
  });
}

function checkOptions(options: NativeEngineOptions): void {
  const { addonPath, cpuVariant = "", threads = 0, pinThreads = false } = options;
  if (addonPath !== undefined) checkPath("addonPath", addonPath);
  if (!cpuVariants.includes(cpuVariant)) refuse("cpuVariant", '"", "reference", "avx2" or "avx512"', cpuVariant);
  if (!Number.isInteger(threads) || threads < 0 || threads > largestThreads) {
    refuse("threads", `an integer from 0 to ${largestThreads}`, threads);
  }
  if (typeof pinThreads !== "boolean") refuse("pinThreads", "true or false", pinThreads);
}

/** An error of the addon's carries code, hint and detail; any other is a bug here and becomes `internal`. */
function translate(error: unknown): HalogenError {
  if (error instanceof HalogenError) return error;
  const { code, hint, detail } = Object(error) as Partial<WireError>;
  const message = error instanceof Error ? error.message : String(error);
  if (code === undefined || hint === undefined || detail === undefined) {
    return new HalogenError("internal", message, { cause: error });
  }
  return fromWire({ code, message, hint, detail });
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translate(error);
  }
}

/** Throws engine.unavailable, with what was tried, when there is no addon that can be loaded here. */
export function createNativeEngine(options: NativeEngineOptions = {}): Engine {
  checkOptions(options);
  const addon = loadAddon(addonCandidates(options.addonPath));
  let raw: AddonEngine;
  try {
    raw = new addon.Engine({
      cpuVariant: options.cpuVariant ?? "",
      threads: options.threads ?? 0,
      pinThreads: options.pinThreads ?? false,
    });
  } catch (error) {
    throw translate(error);
  }
  // process.exit runs no cleanup hooks on the main thread: without this, engine threads would run into torn-down statics.
  const onExit = (): void => raw.shutdown();
  process.on("exit", onExit);
  let closing: Promise<void> | null = null;
  /** By handle: the file, and its grammars once one was needed. */
  const models = new Map<number, { path: string; grammars: GrammarService | null }>();

  const grammarsOf = (handle: number): GrammarService => {
    const model = models.get(handle);
    if (model === undefined) throw new HalogenError("model.not_loaded", `No model is loaded under handle ${handle}.`);
    model.grammars ??= createGrammarService(() => raw.vocabulary(model.path));
    return model.grammars;
  };

  const forget = (handle: number): void => {
    // A reply that still runs is cancelled by the engine and needs no mask any more.
    models.get(handle)?.grammars?.close();
    models.delete(handle);
  };

  const load = (
    request: LoadOptions,
    onProgress?: (progress: EngineProgress) => void,
    signal?: AbortSignal,
  ): Promise<LoadedModel> =>
    translated(async () => {
      checkLoadOptions(request);
      if (signal?.aborted) throw new HalogenError("request.cancelled", "The load was cancelled before it began");
      const running = raw.load(request, onProgress);
      signal?.addEventListener("abort", running.cancel);
      try {
        const model = await running.value;
        models.set(model.handle, { path: request.path, grammars: null });
        return model;
      } finally {
        signal?.removeEventListener("abort", running.cancel);
      }
    });

  const generate = (request: GenerateRequest, onProgress?: (progress: EngineProgress) => void): Generation => {
    try {
      checkGenerateRequest(request);
      const { grammar } = request;
      if (grammar !== undefined) {
        return pullGeneration(
          constrainedSource({
            raw,
            request: { ...request, grammar },
            onProgress,
            service: () => grammarsOf(request.handle),
            translate,
          }),
        );
      }
      const running = raw.generate(request, onProgress);
      return pullGeneration({
        next: () => translated(() => running.next()),
        outcome: () => translated(async () => running.outcome()),
        cancel: () => running.cancel(),
      });
    } catch (error) {
      return failedGeneration(translate(error));
    }
  };

  return {
    info: () => translated(() => raw.info()),
    inspect: (path) =>
      translated(async () => {
        checkPath("path", path);
        return raw.inspect(path);
      }),
    vocabulary: (path) =>
      translated(async () => {
        checkPath("path", path);
        return raw.vocabulary(path);
      }),
    plan: (request) =>
      translated(async () => {
        checkLoadOptions(request);
        return raw.plan(request);
      }),
    load,
    unload: (handle) =>
      translated(async () => {
        checkHandle(handle);
        await raw.unload(handle);
        forget(handle);
      }),
    generate,
    prepareGrammar: (handle) =>
      translated(async () => {
        checkHandle(handle);
        grammarsOf(handle).prepare();
      }),
    score: (handle, tokens, from) =>
      translated(async () => {
        checkScoreRequest(handle, tokens, from);
        return raw.score(handle, tokens, from);
      }),
    memory: () => translated(() => raw.memory()),
    close() {
      closing ??= translated(async () => {
        await raw.close();
        for (const handle of [...models.keys()]) forget(handle);
        process.removeListener("exit", onExit);
      });
      return closing;
    },
  };
}
