/** Grammars compiled for the vocabulary of one model; the last ones are kept. */
import type { GrammarSource, Vocabulary } from "../../app/engine.ts";
import { HalogenError } from "../../app/error.ts";
import { readGrammar } from "../../app/grammar/grammar.ts";
import { printGrammar } from "../../app/grammar/print.ts";
import { byteLetters } from "../../app/token/byte-map.ts";
import { tokenType } from "../../app/token/token-bytes.ts";
import { createTokenizer, type Tokenizer } from "../../app/token/tokenizer.ts";
import { loadGrammarLibrary } from "./library.ts";

const mostKept = 16;

/** One reply's place in its grammar. */
export interface Matcher {
  /** False: the grammar does not allow this token here, and nothing has changed. */
  accept(id: number): boolean;
  /** What may come next: bit id % 32 of word id / 32; stop tokens where the grammar may end. A copy. */
  mask(): Promise<Uint32Array>;
  dispose(): void;
}

export interface GrammarCompiler {
  /** Tokens that end a reply, for requests that name none. */
  endTokens: readonly number[];
  /** At the beginning of the grammar. Rejects with grammar.*. */
  start(source: GrammarSource, stops: readonly number[]): Promise<Matcher>;
  dispose(): void;
}

type Compiled = Awaited<
  ReturnType<
    Awaited<
      ReturnType<ReturnType<typeof loadGrammarLibrary>["GrammarCompiler"]["createGrammarCompiler"]>
    >["compileGrammar"]
  >
>;

export async function createGrammarCompiler(vocabulary: Vocabulary): Promise<GrammarCompiler> {
  const library = loadGrammarLibrary();
  const tokenizer = createTokenizer(vocabulary);
  const endTokens = [...tokenizer.endTokens];
  const texts = grammarTexts(tokenizer, vocabulary);
  const info = await library.TokenizerInfo.createTokenizerInfo(texts, "byte_level", false, texts.length, endTokens);
  const compiler = await library.GrammarCompiler.createGrammarCompiler(info, false);
  const kept = new Map<string, Promise<Compiled>>();

  const compile = (source: GrammarSource): Promise<Compiled> => {
    const key = `${source.kind}\n${source.source}`;
    const found = kept.get(key);
    if (found !== undefined) {
      kept.delete(key);
      kept.set(key, found);
      return found;
    }
    const made = (async () => compiler.compileGrammar(printGrammar(readGrammar(source))))();
    kept.set(key, made);
    made.catch(() => kept.delete(key));
    for (const [oldest, compiled] of kept) {
      if (kept.size <= mostKept) break;
      kept.delete(oldest);
      // A matcher that is at work holds on to it by itself.
      void compiled.then((each) => each.dispose()).catch(() => undefined);
    }
    return made;
  };

  return {
    endTokens,
    async start(source, stops) {
      const matcher = await library.GrammarMatcher.createGrammarMatcher(await compile(source), [...stops]);
      // Inside long stretches of any text the library lets tokens through that print nothing.
      const printing = new Uint32Array(Math.ceil(texts.length / 32));
      const allow = (id: number): void => {
        const word = id >>> 5;
        if (word < printing.length) printing[word] = ((printing[word] as number) | (1 << (id & 31))) >>> 0;
      };
      texts.forEach((text, id) => {
        if (text !== "") allow(id);
      });
      for (const id of stops) allow(id);
      return {
        accept: (id) => matcher.acceptToken(id),
        async mask() {
          const bits = await matcher.getNextTokenBitmask();
          return printing.map((allowed, word) => allowed & (bits[word] ?? 0));
        },
        dispose: () => matcher.dispose(),
      };
    },
    dispose() {
      for (const compiled of kept.values()) void compiled.then((each) => each.dispose()).catch(() => undefined);
      kept.clear();
      compiler.dispose();
      info.dispose();
    },
  };
}

/**
 * What each token prints, in the letters of byte-level BPE whatever the model's own way is: that carries any bytes. A token without text is never
 * allowed; so control tokens are kept out of texts, and so is markup that a file calls user-defined.
 */
export function grammarTexts(tokenizer: Tokenizer, { types }: Vocabulary): string[] {
  if (tokenizer.count === 0) throw new HalogenError("tokenizer.malformed", "The model has no tokens");
  return Array.from({ length: tokenizer.count }, (_, id) => {
    const type = types[id] ?? tokenType.normal;
    if (type === tokenType.control || type === tokenType.unknown || type === tokenType.unused) return "";
    if (tokenizer.endTokens.has(id)) return "";
    if (type === tokenType.userDefined && /^[<[].*[>\]]$/su.test(tokenizer.tokenText(id))) return "";
    let text = "";
    for (const byte of tokenizer.tokenBytes(id)) text += byteLetters[byte];
    return text;
  });
}
