/** Grammars compiled for the vocabulary of one model; the last ones are kept. Runs in a worker: nothing here waits. */
import type { GrammarSource, GrammarThought, Vocabulary } from "../../app/engine.ts";
import { HalogenError } from "../../app/error.ts";
import { readGrammar } from "../../app/grammar/grammar.ts";
import { createMaskMaker, type MaskMaker, type TokenTexts } from "../../app/mask/mask.ts";
import { buildTrie } from "../../app/mask/trie.ts";
import { tokenType } from "../../app/token/token-bytes.ts";
import { createTokenizer, type Tokenizer } from "../../app/token/tokenizer.ts";

const mostKept = 16;

/** One reply's place in its grammar. */
export interface Matcher {
  /** False: the grammar does not allow this token here, and nothing has changed. */
  accept(id: number): boolean;
  /** What may come next: bit id % 32 of word id / 32; stop tokens where the grammar may end. A copy. */
  mask(): Uint32Array;
}

export interface GrammarRequest {
  source: GrammarSource;
  thought: GrammarThought | null;
  /** What stands there already, and has to fit. */
  written: string;
  /** What ends the reply; empty: the model's own. */
  stops: readonly number[];
}

export interface GrammarCompiler {
  /** Tokens that end a reply, for requests that name none. */
  endTokens: readonly number[];
  /** At the beginning of the grammar. Throws grammar.*. */
  start(request: GrammarRequest): Matcher;
}

export function createGrammarCompiler(vocabulary: Vocabulary): GrammarCompiler {
  const tokenizer = createTokenizer(vocabulary);
  const endTokens = [...tokenizer.endTokens];
  const { texts, marks } = grammarTexts(tokenizer, vocabulary);
  const tokens: TokenTexts = { texts, marks, trie: buildTrie(texts), repetitions: new Map() };
  const kept = new Map<string, MaskMaker>();

  const compile = (source: GrammarSource, thought: GrammarThought | null): MaskMaker => {
    const key = JSON.stringify([source.kind, source.source, thought]);
    const made = kept.get(key) ?? createMaskMaker(tokens, readGrammar(source), thought);
    kept.delete(key);
    kept.set(key, made);
    for (const oldest of kept.keys()) {
      if (kept.size <= mostKept) break;
      kept.delete(oldest);
    }
    return made;
  };

  return {
    endTokens,
    start({ source, thought, written, stops }) {
      const maker = compile(source, thought);
      const ends = stops.length > 0 ? stops : endTokens;
      const begun = maker.read(maker.start, written);
      if (begun === null) {
        throw new HalogenError("grammar.impossible", "What the reply has so far does not fit its format", {
          hint: "Ask for a new reply instead of going on with this one.",
        });
      }
      let state = begun;
      return {
        accept(id) {
          const next = maker.after(state, id);
          if (next === null) return false;
          state = next;
          return true;
        },
        mask() {
          const bits = maker.mask(state).slice();
          for (const id of ends) {
            const word = id >>> 5;
            if (word >= bits.length) continue;
            const bit = 1 << (id & 31);
            bits[word] = state.done ? (bits[word] as number) | bit : (bits[word] as number) & ~bit;
          }
          return bits;
        },
      };
    },
  };
}

/**
 * What each token prints, a character a byte. A token without text is never allowed in a grammar; so control tokens are kept out of texts, and so is
 * markup that a file calls user-defined. `marks`: what those say that may stand before a grammar.
 */
export function grammarTexts(
  tokenizer: Tokenizer,
  { types }: Vocabulary,
): { texts: string[]; marks: Map<number, string> } {
  if (tokenizer.count === 0) throw new HalogenError("tokenizer.malformed", "The model has no tokens");
  const marks = new Map<number, string>();
  const texts = Array.from({ length: tokenizer.count }, (_, id) => {
    const type = types[id] ?? tokenType.normal;
    if (type === tokenType.unknown || type === tokenType.unused) return "";
    let text = "";
    for (const byte of tokenizer.tokenBytes(id)) text += String.fromCharCode(byte);
    if (tokenizer.endTokens.has(id)) return "";
    const markup = type === tokenType.userDefined && /^[<[].*[>\]]$/su.test(tokenizer.tokenText(id));
    if (type !== tokenType.control && !markup) return text;
    marks.set(id, text);
    return "";
  });
  return { texts, marks };
}
