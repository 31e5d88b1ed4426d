/** Stop strings in a stream: found across any borders of its parts, and never shown, not even in part. */

export interface StopMatcher {
  /** The text that can no longer become part of a stop string. Empty for ever once `stopped`. */
  push(text: string): string;
  /** The end of the stream: what was held back as a possible beginning. */
  flush(): string;
  /** The stop string that was met. */
  readonly stopped: string | null;
}

/** Where two stop strings are met at once, the one that begins first counts, then the longer one. */
export function createStopMatcher(stops: readonly string[]): StopMatcher {
  const wanted = stops.filter((stop) => stop !== "");
  let held = "";
  let stopped: string | null = null;
  return {
    get stopped() {
      return stopped;
    },
    push: (text) => {
      if (stopped !== null) return "";
      held += text;
      const hit = firstHit(held, wanted);
      // A longer stop string that begins earlier may still be under way; it is held back until that is known.
      const pending = held.length - longestPending(held, wanted);
      if (hit !== null && hit.at <= pending) {
        stopped = hit.stop;
        const shown = held.slice(0, hit.at);
        held = "";
        return shown;
      }
      const shown = held.slice(0, pending);
      held = held.slice(pending);
      return shown;
    },
    flush: () => {
      if (stopped !== null) return "";
      const hit = firstHit(held, wanted);
      const shown = hit === null ? held : held.slice(0, hit.at);
      if (hit !== null) stopped = hit.stop;
      held = "";
      return shown;
    },
  };
}

function firstHit(text: string, stops: readonly string[]): { at: number; stop: string } | null {
  let best: { at: number; stop: string } | null = null;
  for (const stop of stops) {
    const at = text.indexOf(stop);
    if (at < 0) continue;
    if (best === null || at < best.at || (at === best.at && stop.length > best.stop.length)) best = { at, stop };
  }
  return best;
}

/** The length of the longest end of `text` that is a beginning of a stop string, but not all of it. */
export function longestPending(text: string, stops: readonly string[]): number {
  let longest = 0;
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(stop.slice(0, length))) {
        longest = length;
        break;
      }
    }
  }
  return longest;
}
