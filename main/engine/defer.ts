import type { GenerateRequest, Generation, TokenBatch } from "../../app/engine.ts";
import { neverBegun, pullGeneration } from "../../app/generation.ts";

/**
 * A generation whose engine is still being made ready. `prepare` gives what starts it; cancelled before that, it is never started and ends at
 * once, while the preparation (a restart, a reload) goes on for the next one.
 */
export function deferGeneration(request: GenerateRequest, prepare: () => Promise<() => Generation>): Generation {
  let cancelled = false;
  let started: Generation | null = null;
  let batches: AsyncIterator<TokenBatch> | null = null;
  let cancelWait: () => void = () => undefined;
  const cancelledEarly = new Promise<null>((resolve) => {
    cancelWait = () => resolve(null);
  });
  const starting = prepare().then((start) => {
    if (cancelled) return null;
    started = start();
    return started;
  });
  starting.catch(() => undefined);

  return pullGeneration({
    async next() {
      if (batches === null) {
        const generation = await Promise.race([starting, cancelledEarly]);
        if (generation === null) return null;
        batches = generation[Symbol.asyncIterator]();
      }
      const step = await batches.next();
      return step.done === true ? null : step.value;
    },
    outcome() {
      if (started !== null) return started.outcome;
      return Promise.resolve(neverBegun(request));
    },
    cancel() {
      cancelled = true;
      started?.cancel();
      if (started === null) cancelWait();
    },
  });
}
