import type { GenerateOutcome, GenerateRequest, Generation, TokenBatch } from "./engine.ts";

/** What an engine gives; `pullGeneration` makes the public face of it. */
export interface GenerationSource {
  /** The next batch, or null at the end. Rejects with the generation's error after the last batch. Never called twice at a time. */
  next(): Promise<TokenBatch | null>;
  /** Called once, after `next` gave null. */
  outcome(): Promise<GenerateOutcome>;
  /** Ends it within one step; must not throw. */
  cancel(): void;
}

/**
 * A Generation over a source that is pulled, so that nothing is asked for before the reader wants it. A reader that leaves early (`break`)
 * cancels it. After `cancel` the rest is read even when nobody iterates, so that `outcome` settles then, too.
 */
export function pullGeneration(source: GenerationSource): Generation {
  let resolveOutcome: (outcome: GenerateOutcome) => void = () => undefined;
  let rejectOutcome: (error: unknown) => void = () => undefined;
  const outcome = new Promise<GenerateOutcome>((resolve, reject) => {
    resolveOutcome = resolve;
    rejectOutcome = reject;
  });
  // A reader of batches sees the same error there; it need not look here too.
  outcome.catch(() => undefined);

  /** Batches read ahead of the reader: the first one, and all after a cancel. */
  const kept: TokenBatch[] = [];
  let ended = false;
  let failure: { error: unknown } | null = null;
  let cancelled = false;
  let pumping = false;
  let dropping = false;
  let pull: Promise<void> | null = null;

  /** One step of the source into `kept`; shared by all who wait for it. */
  const step = (): Promise<void> => {
    pull ??= readOne().finally(() => {
      pull = null;
    });
    return pull;
  };

  const readOne = async (): Promise<void> => {
    try {
      const batch = await source.next();
      if (batch !== null) {
        if (!dropping) kept.push(batch);
        return;
      }
      ended = true;
      resolveOutcome(await source.outcome());
    } catch (error) {
      ended = true;
      failure = { error };
      rejectOutcome(error);
    }
  };

  const pump = async (): Promise<void> => {
    if (pumping) return;
    pumping = true;
    while (!ended) await step();
  };

  const cancel = (): void => {
    if (cancelled || ended) return;
    cancelled = true;
    source.cancel();
    void pump();
  };

  const iterator: AsyncIterableIterator<TokenBatch> = {
    async next() {
      for (;;) {
        const batch = kept.shift();
        if (batch !== undefined) return { done: false, value: batch };
        if (ended) {
          if (failure !== null && !dropping) {
            dropping = true;
            throw failure.error;
          }
          return { done: true, value: undefined };
        }
        await step();
      }
    },
    async return() {
      dropping = true;
      kept.length = 0;
      cancel();
      while (!ended) await step();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };

  // The first batch is fetched unasked, so that a generation that fails before it tells so through `outcome` alone.
  void step();
  return { outcome, cancel, [Symbol.asyncIterator]: () => iterator };
}

/** A generation that failed before it began. */
export function failedGeneration(error: unknown): Generation {
  const fail = () => Promise.reject(error);
  return pullGeneration({ next: fail, outcome: fail, cancel: () => undefined });
}

/** Of a request that was cancelled before the engine had it. */
export function neverBegun({ tokens, sampling }: GenerateRequest): GenerateOutcome {
  return {
    cause: "cancelled",
    stopToken: -1,
    promptTokens: tokens.length,
    reused: 0,
    recomputed: 0,
    generatedTokens: 0,
    prefillMilliseconds: 0,
    decodeMilliseconds: 0,
    seed: sampling.seed ?? 0,
  };
}
