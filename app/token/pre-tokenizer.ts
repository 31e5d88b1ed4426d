/**
 * Pre-tokenizers as data: the expressions that cut a text into the pieces inside which BPE merges. Several expressions apply one after
 * the other to the pieces the previous one left; what an expression does not match stays a piece of its own.
 *
 * The expressions are those of the models' own tokenizer files. `\s` and `\S` mean Unicode White_Space there; JavaScript's differ
 * (U+0085, U+FEFF), so `compile` replaces them.
 */

/** The same expression twice: as it matches at one place, and as it searches. */
export interface Expression {
  sticky: RegExp;
  global: RegExp;
}

export interface PreTokenizer {
  expressions: Expression[];
  /** Whether the text is brought to Unicode's form NFC first. */
  composes: boolean;
  /** A piece that is a vocabulary entry as a whole is taken without merging. */
  ignoreMerges: boolean;
  /** tokenizer.ggml.add_bos_token when the file does not say. */
  addBos: boolean;
}

const contraction = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])";
const newlines = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;
const punctuation = String.raw` ?[^\s\p{L}\p{N}]+[\r\n]*`;
const word = String.raw`[^\r\n\p{L}\p{N}]?\p{L}+`;
const upper = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const lower = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const lead = String.raw`[^\r\n\p{L}\p{N}]?`;

const llama3 = String.raw`${contraction}|${word}|\p{N}{1,3}|${punctuation}|${newlines}`;
const qwen2 = String.raw`${contraction}|${word}|\p{N}|${punctuation}|${newlines}`;
const qwen35 = String.raw`${contraction}|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|${newlines}`;
const gpt2 = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;
const cased = (tail: string, number: string): string =>
  String.raw`${lead}${upper}*${lower}+${tail}|${lead}${upper}+${lower}*${tail}|${number}| ?[^\s\p{L}\p{N}]+[\r\n/]*|${newlines}`;
const gpt4o = cased(`${contraction}?`, String.raw`\p{N}{1,3}`);
const tekken = cased("", String.raw`\p{N}`);
/** Not split: Turkish suffixes behind an apostrophe. */
const uncontracted = String.raw`${word}|\p{N}|${punctuation}|${newlines}`;
const seedCoder = String.raw`${contraction}|${word}|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|${newlines}`;
const minicpm5 = String.raw`${contraction}|${word}|\p{N}+|${punctuation}|${newlines}`;
const clauses = String.raw` ?[^(\s|.,!?…。，、।۔،)]+`;
const ascii = "[!\"#$%&'()*+,\\-.\\/:;<=>?@\\[\\\\\\]^_`\\{|\\}~]";
const deepseek3 = String.raw`${ascii}[A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|${newlines}`;
const han = "[一-龥ࠀ-一가-\u{D7FF}]+";
const hanKana = "[一-龥぀-ゟ゠-ヿ]+";
const latin =
  "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃";

interface Family {
  names: string[];
  expressions: string[];
  ignoreMerges?: boolean;
  addBos?: boolean;
}

const families: Family[] = [
  {
    names: ["smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"],
    expressions: [String.raw`\p{N}`, gpt2],
  },
  {
    names: [
      "gpt-2",
      "phi-2",
      "mpt",
      "olmo",
      "jais",
      "trillion",
      "exaone4",
      "mellum",
      "modern-bert",
      "granite-docling",
      "gigachat",
      "a.x-4.0",
    ],
    expressions: [gpt2],
  },
  {
    names: ["llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"],
    expressions: [llama3],
    ignoreMerges: true,
    addBos: true,
  },
  { names: ["dbrx", "smaug-bpe", "chatglm-bpe"], expressions: [llama3] },
  { names: ["glm4", "glm5"], expressions: [llama3], ignoreMerges: true },
  {
    names: ["qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "megrez", "stablelm2", "hunyuan", "solar-open", "grok-2"],
    expressions: [qwen2],
  },
  { names: ["qwen35"], expressions: [qwen35] },
  { names: ["seed-coder"], expressions: [seedCoder] },
  { names: ["minicpm5"], expressions: [String.raw`\p{N}{1,3}`, minicpm5], ignoreMerges: true },
  { names: ["ufakzeka"], expressions: [uncontracted] },
  { names: ["viking"], expressions: [clauses, String.raw`\p{N}`] },
  { names: ["gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"], expressions: [gpt4o] },
  { names: ["tekken"], expressions: [tekken], ignoreMerges: true, addBos: true },
  {
    names: ["deepseek-v3", "hunyuan-dense", "hy_v4", "joyai-llm"],
    expressions: [String.raw`\p{N}{1,3}`, hanKana, deepseek3],
  },
  {
    names: ["deepseek-llm"],
    expressions: [
      String.raw`[\r\n]`,
      String.raw`\s?[${latin}]+`,
      String.raw`\s?[!-\/:-~！-／：-～‘-‟　-。]+`,
      // The maker's is \s+$; that it starts where a run starts is added, for else a search takes the square of the run's length.
      String.raw`(?<!\s)\s+$`,
      han,
      String.raw`\p{N}+`,
    ],
  },
  {
    names: ["deepseek-coder"],
    expressions: [String.raw`[\r\n]`, String.raw`\s?\p{L}+`, String.raw`\s?\p{P}+`, han, String.raw`\p{N}`],
  },
  { names: ["falcon"], expressions: ["[\\p{P}\\$\\+<=>\\^~\\|`]+", gpt2, "[0-9][0-9][0-9]"] },
  { names: ["default"], expressions: [String.raw`[\p{P}\$\+<=>\^~\|]+`, gpt2, String.raw`\p{N}+`, "[0-9][0-9][0-9]"] },
];

/**
 * Whose makers' tokenizers compose characters (NFC) before all else: Qwen's, Cohere's and those of GPT-NeoX, as `transformers` defines them.
 * llama.cpp does not, so on decomposed text its ids differ from those the models were trained with.
 */
const composing: ReadonlySet<string> = new Set([
  "qwen2",
  "deepseek-r1-qwen",
  "qwen35",
  "command-r",
  "mpt",
  "olmo",
  "modern-bert",
]);

const byName = new Map<string, Family>(
  families.flatMap((family) => family.names.map((name) => [name, family] as const)),
);

export const preTokenizerNames: readonly string[] = [...byName.keys()];

/** Undefined for a name this version does not know. */
export function findPreTokenizer(name: string): PreTokenizer | undefined {
  const family = byName.get(name);
  if (family === undefined) return undefined;
  return {
    expressions: family.expressions.map(compile),
    composes: composing.has(name),
    ignoreMerges: family.ignoreMerges ?? false,
    addBos: family.addBos ?? false,
  };
}

/** Of gemma4: lines, and runs of line breaks. */
export function linePreTokenizer(): PreTokenizer {
  return { expressions: [compile(String.raw`[^\n]+|\n+`)], composes: false, ignoreMerges: false, addBos: true };
}

function compile(expression: string): Expression {
  const source = expression.replaceAll("\\s", "\\p{White_Space}").replaceAll("\\S", "\\P{White_Space}");
  return { sticky: new RegExp(source, "uy"), global: new RegExp(source, "gu") };
}

/** A piece is `text[start..end]`. */
export type TakePiece = (text: string, start: number, end: number) => void;

/** Cuts `text` and hands each piece to `take`, in order; joined, the pieces are the text. None is empty. */
export function splitPieces(text: string, expressions: readonly Expression[], take: TakePiece): void {
  splitFrom(0, text, expressions, take);
}

function splitFrom(stage: number, text: string, expressions: readonly Expression[], take: TakePiece): void {
  const expression = expressions[stage];
  if (expression === undefined) {
    if (text !== "") take(text, 0, text.length);
    return;
  }
  const last = stage + 1 === expressions.length;
  // A later expression must not see beyond its piece.
  const hand = (start: number, end: number): void => {
    if (last) take(text, start, end);
    else splitFrom(stage + 1, start === 0 && end === text.length ? text : text.slice(start, end), expressions, take);
  };
  const { length } = text;
  for (let at = 0; at < length; ) {
    // Mostly one match begins where the last one ended; then no match object is needed.
    expression.sticky.lastIndex = at;
    if (expression.sticky.test(text) && expression.sticky.lastIndex > at) {
      const end = expression.sticky.lastIndex;
      hand(at, end);
      at = end;
      continue;
    }
    expression.global.lastIndex = at;
    const found = expression.global.exec(text);
    if (found === null) {
      hand(at, length);
      return;
    }
    hand(at, found.index);
    at = found.index;
  }
}
