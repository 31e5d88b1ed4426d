/** The replies that are under way in a thread, each with its place in its grammar. */
import { HalogenError } from "../../app/error.ts";
import type { GrammarCompiler, GrammarRequest, Matcher } from "./compiler.ts";
import type { Offer, ToWorker } from "./message.ts";

export interface GrammarDesk {
  /** undefined: nothing is to be answered. Throws what a reply ends with. */
  take(message: ToWorker): Offer | undefined;
}

export function createGrammarDesk(compiler: GrammarCompiler): GrammarDesk {
  const matchers = new Map<number, { matcher: Matcher; ends: ReadonlySet<number> }>();

  const started = (request: GrammarRequest): Matcher => {
    try {
      return compiler.start(request);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new HalogenError("grammar.unsupported", "This grammar is nested too deeply", {
        hint: "Use rules, or references, in place of parts inside parts.",
        cause: error,
      });
    }
  };

  const accept = (matcher: Matcher, token: number): void => {
    if (matcher.accept(token)) return;
    throw new HalogenError("internal", `Token ${token} was chosen, which the grammar does not allow`);
  };

  const offer = ({ matcher, ends }: { matcher: Matcher; ends: ReadonlySet<number> }): Offer => {
    const words = matcher.mask();
    const may = inspect(words, ends);
    if (!may.others && !may.end) {
      throw new HalogenError("grammar.impossible", "No token of this model can go on from here in the grammar", {
        hint: "Allow other characters there; this model's vocabulary does not have these.",
      });
    }
    // Where only the end may come, it has come.
    return may.others ? words : null;
  };

  return {
    take(message) {
      if (message.kind === "end") {
        matchers.delete(message.id);
        return undefined;
      }
      if (message.kind === "start") {
        const { request, tokens } = message;
        const matcher = started(request);
        for (const token of tokens) accept(matcher, token);
        const ends = new Set(request.stops.length > 0 ? request.stops : compiler.endTokens);
        matchers.set(message.id, { matcher, ends });
      }
      const found = matchers.get(message.id);
      if (found === undefined) throw new HalogenError("internal", `There is no reply ${message.id} with a grammar`);
      if (message.kind === "accept") accept(found.matcher, message.token);
      return offer(found);
    },
  };
}

/** Whether anything but an end may come, and whether an end may. */
function inspect(words: Uint32Array, ends: ReadonlySet<number>): { others: boolean; end: boolean } {
  let end = false;
  const taken = new Map<number, number>();
  for (const id of ends) {
    const word = id >>> 5;
    if (word >= words.length || (((words[word] as number) >>> (id & 31)) & 1) === 0) continue;
    end = true;
    taken.set(word, (taken.get(word) ?? 0) | (1 << (id & 31)));
  }
  const others = words.some((bits, word) => (bits & ~(taken.get(word) ?? 0)) !== 0);
  return { others, end };
}
