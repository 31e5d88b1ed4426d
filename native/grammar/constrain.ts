/** A generation whose every token fits a grammar: the engine says what it chose, and is told what may come next while it computes. */
import type { EngineProgress, GenerateRequest, GrammarSource } from "../../app/engine.ts";
import { HalogenError } from "../../app/error.ts";
import type { GenerationSource } from "../../app/generation.ts";
import type { AddonEngine, AddonGeneration } from "../addon.ts";
import type { GrammarCompiler, Matcher } from "./compiler.ts";

export interface ConstrainOptions {
  raw: AddonEngine;
  request: GenerateRequest & { grammar: GrammarSource };
  onProgress: ((progress: EngineProgress) => void) | undefined;
  compiler: () => Promise<GrammarCompiler>;
  translate: (error: unknown) => HalogenError;
}

export function constrainedSource({
  raw,
  request,
  onProgress,
  compiler,
  translate,
}: ConstrainOptions): GenerationSource {
  let running: AddonGeneration | null = null;
  let matcher: Matcher | null = null;
  let cancelled = false;
  let fault: HalogenError | null = null;
  /** The mask that is being made; one at a time, in order. */
  let work: Promise<void> = Promise.resolve();

  const fail = (error: unknown): void => {
    fault ??= translate(error);
    running?.cancel();
  };

  const offer = async (stops: ReadonlySet<number>): Promise<void> => {
    if (matcher === null || running === null) return;
    const words = await matcher.mask();
    const { others, ends } = inspect(words, stops);
    if (!others && !ends) {
      throw new HalogenError("grammar.impossible", "No token of this model can go on from here in the grammar", {
        hint: "Allow other characters there; this model's vocabulary does not have these.",
      });
    }
    // Where only the end may come, it has come.
    running.allow(others ? words : null);
  };

  const starting = (async (): Promise<void> => {
    const made = await compiler();
    const stops = request.stopTokens.length > 0 ? request.stopTokens : [...made.endTokens];
    if (stops.length === 0) {
      throw new HalogenError(
        "grammar.unsupported",
        "This model has no token that ends a reply, so that a grammar could never end",
        {
          hint: "Name stop tokens in the request.",
        },
      );
    }
    const ends = new Set(stops);
    matcher = await made.start(request.grammar, stops);
    if (cancelled) return;
    const { grammar: _, ...plain } = request;
    const sampled = (id: number): void => {
      work = work
        .then(() => {
          if (matcher === null || fault !== null) return undefined;
          if (!matcher.accept(id))
            throw new HalogenError("internal", `Token ${id} was chosen, which the grammar does not allow`);
          return offer(ends);
        })
        .catch(fail);
    };
    running = raw.generate({ ...plain, stopTokens: stops, constrained: true }, onProgress, sampled);
    if (cancelled) running.cancel();
    work = offer(ends).catch(fail);
  })();
  starting.catch(() => undefined);

  const release = (): void => {
    const done = matcher;
    matcher = null;
    done?.dispose();
  };

  return {
    async next() {
      try {
        await starting;
        const batch = running === null ? null : await running.next();
        if (batch !== null) return batch;
        await work;
        release();
      } catch (error) {
        release();
        throw fault ?? translate(error);
      }
      if (fault !== null) throw fault;
      return null;
    },
    async outcome() {
      if (running !== null) return running.outcome();
      return {
        cause: "cancelled",
        stopToken: -1,
        promptTokens: request.tokens.length,
        reused: 0,
        recomputed: 0,
        generatedTokens: 0,
        prefillMilliseconds: 0,
        decodeMilliseconds: 0,
        seed: request.sampling.seed ?? 0,
      };
    },
    cancel() {
      cancelled = true;
      running?.cancel();
    },
  };
}

/** Whether anything but an end may come, and whether an end may. */
function inspect(words: Uint32Array, stops: ReadonlySet<number>): { others: boolean; ends: boolean } {
  let ends = false;
  const taken = new Map<number, number>();
  for (const id of stops) {
    const word = id >>> 5;
    if (word >= words.length || (((words[word] as number) >>> (id & 31)) & 1) === 0) continue;
    ends = true;
    taken.set(word, (taken.get(word) ?? 0) | (1 << (id & 31)));
  }
  const others = words.some((bits, word) => (bits & ~(taken.get(word) ?? 0)) !== 0);
  return { others, ends };
}
