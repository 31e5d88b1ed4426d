/** Finds special tokens in a text whose parts are trusted or not: a control token counts only where the template itself wrote it. */
import { type TokenBytes, tokenType } from "./token-bytes.ts";

/** A part of a prompt. `special`: control tokens in it are meant as such (template markup); false for what people and tools wrote. */
export interface Span {
  text: string;
  special: boolean;
}

export interface SpecialToken {
  id: number;
  text: string;
  type: number;
}

export interface SpecialMatcher {
  tokens: readonly SpecialToken[];
  /** Calls back in order: stretches of plain text, and special tokens between them. Spans are no borders for plain text. */
  partition(spans: readonly Span[], onText: (text: string) => void, onToken: (id: number) => void): void;
  /** Every control token's text that occurs in `text`, as [start, end) ranges; for callers that must fence it off. */
  find(text: string): [number, number][];
}

/**
 * Some files declare turn markers as user-defined, which always split. Shapes like these are markup in every known family, so text of
 * people must not make them.
 */
const markup = /^(?:<[|｜][^<>]+>|<[^<>]+[|｜]>|<\/?s>|\[\/?[A-Z_]+\]|<(?:start|end)_of_turn>)$/u;

/**
 * Phi-3's tokenizer drops the white space behind its control tokens (`rstrip` in its makers' file); GGUF has no field for it, so its placeholders
 * tell. Those of its Llama 2 ancestor keep what follows.
 */
function stripsRight(tokens: readonly SpecialToken[]): ReadonlySet<number> {
  const ofPhi = tokens.some(({ text }) => text === "<|placeholder1|>") && tokens.some(({ text }) => text === "<s>");
  const keeping = ["<unk>", "<s>", "<|endoftext|>"];
  return new Set(ofPhi ? tokens.filter(({ text }) => !keeping.includes(text)).map(({ id }) => id) : []);
}

const whiteSpace = /\p{White_Space}/u;

export function createSpecialMatcher(tokens: TokenBytes): SpecialMatcher {
  const list: SpecialToken[] = [];
  for (let id = 0; id < tokens.count; id++) {
    const type = tokens.types[id] as number;
    if (type !== tokenType.control && type !== tokenType.userDefined && type !== tokenType.unknown) continue;
    const text = tokens.text(id);
    if (text !== "") list.push({ id, text, type });
  }
  const stripping = stripsRight(list);
  // By first UTF-16 unit: the lengths that occur, longest first, and the texts.
  const candidates = new Map<number, { lengths: number[]; byText: Map<string, SpecialToken> }>();
  for (const token of list) {
    const first = token.text.charCodeAt(0);
    let entry = candidates.get(first);
    if (entry === undefined) {
      entry = { lengths: [], byText: new Map() };
      candidates.set(first, entry);
    }
    if (!entry.lengths.includes(token.text.length)) entry.lengths.push(token.text.length);
    if (!entry.byText.has(token.text)) entry.byText.set(token.text, token);
  }
  for (const entry of candidates.values()) entry.lengths.sort((a, b) => b - a);

  /** The longest token at `at` that is allowed there; a control token must end before `limit`. */
  const matchAt = (text: string, at: number, limit: number): SpecialToken | undefined => {
    const entry = candidates.get(text.charCodeAt(at));
    if (entry === undefined) return undefined;
    for (const length of entry.lengths) {
      if (at + length > text.length) continue;
      const token = entry.byText.get(text.substr(at, length));
      if (token === undefined) continue;
      if (splitsAlways(token) || at + length <= limit) return token;
    }
    return undefined;
  };

  return {
    tokens: list,
    partition: (spans, onText, onToken) => {
      const text = spans.map((span) => span.text).join("");
      const fences = untrustedRanges(spans);
      let fence = 0;
      let start = 0;
      for (let at = 0; at < text.length; ) {
        while (fence < fences.length && (fences[fence]?.[1] ?? 0) <= at) fence++;
        const nextFence = fences[fence]?.[0] ?? Number.POSITIVE_INFINITY;
        const token = matchAt(text, at, nextFence);
        if (token === undefined) {
          at++;
          continue;
        }
        if (at > start) onText(text.slice(start, at));
        onToken(token.id);
        at += token.text.length;
        while (stripping.has(token.id) && whiteSpace.test(text.charAt(at))) at++;
        start = at;
      }
      if (start < text.length) onText(text.slice(start));
    },
    find: (text) => {
      const ranges: [number, number][] = [];
      for (let at = 0; at < text.length; at++) {
        const token = matchAt(text, at, Number.POSITIVE_INFINITY);
        if (token === undefined) continue;
        if (!splitsAlways(token)) ranges.push([at, at + token.text.length]);
        at += token.text.length - 1;
      }
      return ranges;
    },
  };
}

function splitsAlways(token: SpecialToken): boolean {
  return token.type === tokenType.userDefined && !markup.test(token.text);
}

/** Merged, ascending [start, end) ranges of text that is not trusted. */
function untrustedRanges(spans: readonly Span[]): [number, number][] {
  const ranges: [number, number][] = [];
  let at = 0;
  for (const span of spans) {
    const end = at + span.text.length;
    const last = ranges[ranges.length - 1];
    if (!span.special && end > at) {
      if (last !== undefined && last[1] === at) last[1] = end;
      else ranges.push([at, end]);
    }
    at = end;
  }
  return ranges;
}
