/** Waiting that ends at once when the user has had enough, whatever the other side does. */
import type { GenerateOutcome, Generation, TokenBatch } from "../../app/engine.ts";
import { HalogenError } from "../../app/error.ts";

/** How long an engine may take to hear a cancel; it is given up on then. */
const patience = 300;

/** `work`, or request.cancelled as soon as `signal` is aborted; what comes later goes to `late`. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal, late: (value: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(new HalogenError("request.cancelled", "Stopped before the reply began"));
      // Its failure concerns nobody any more.
      work.then(late, () => undefined);
    };
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/**
 * Reads a generation to its end; `take` says whether to go on. On abort, or when `take` has enough, it is cancelled and what it still
 * delivers is dropped. Null when it did not end within a moment after that. Rejects with the generation's error.
 */
export async function readUntilAborted(
  generation: Generation,
  signal: AbortSignal,
  take: (batch: TokenBatch) => boolean,
): Promise<GenerateOutcome | null> {
  let giveUp: () => void = () => undefined;
  const givenUp = new Promise<null>((resolve) => {
    giveUp = () => resolve(null);
  });
  let timer: ReturnType<typeof setTimeout> | null = null;
  const cancel = (): void => {
    timer ??= setTimeout(giveUp, patience);
    generation.cancel();
  };
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
  const read = async (): Promise<GenerateOutcome> => {
    for await (const batch of generation) {
      if (!take(batch)) cancel();
    }
    return generation.outcome;
  };
  try {
    return await Promise.race([read(), givenUp]);
  } finally {
    if (timer !== null) clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}
