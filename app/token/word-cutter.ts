/**
 * Cuts text of marked spaces (▁) into words before it is merged. That changes nothing, because a border is cut only where no token of the
 * vocabulary could lie across it, and it makes words short enough to be remembered.
 */
import { spaceMark, type TokenBytes } from "./token-bytes.ts";

/** Hands on the words of `text[start..end]` in order; joined, they are that text. */
export type WordCutter = (text: string, start: number, end: number, take: (start: number, end: number) => void) => void;

const mark = spaceMark.charCodeAt(0);

/** More tokens than this that hold a border, and nothing is cut. */
const mostAcross = 64;

/** `counts` says which tokens merges can make. */
export function createWordCutter(tokens: TokenBytes, counts: (id: number) => boolean): WordCutter {
  const across = tokensAcross(tokens, counts);
  if (across === null) {
    return (_text, start, end, take) => {
      if (end > start) take(start, end);
    };
  }
  /** Each as the text before the border and the one behind it. */
  const borders = across.flatMap((token) =>
    bordersOf(token).map((at) => [token.slice(0, at), token.slice(at)] as const),
  );
  return (text, start, end, take) => {
    let from = start;
    for (let at = start + 1; at < end; at++) {
      if (text.charCodeAt(at) !== mark || text.charCodeAt(at - 1) === mark) continue;
      if (borders.some(([head, tail]) => text.startsWith(tail, at) && text.startsWith(head, at - head.length)))
        continue;
      take(from, at);
      from = at;
    }
    if (from < end) take(from, end);
  };
}

/** Where a mark follows something else. */
function bordersOf(text: string): number[] {
  const borders: number[] = [];
  for (let at = text.indexOf(spaceMark, 1); at >= 0; at = text.indexOf(spaceMark, at + 1)) {
    if (text[at - 1] !== spaceMark) borders.push(at);
  }
  return borders;
}

function tokensAcross(tokens: TokenBytes, counts: (id: number) => boolean): string[] | null {
  const found: string[] = [];
  const { store, offsets, count } = tokens;
  for (let id = 0; id < count; id++) {
    const end = offsets[id + 1] as number;
    let marked = true;
    for (let at = offsets[id] as number; at < end; ) {
      // U+2581 is E2 96 81.
      const mark = store[at] === 0xe2 && store[at + 1] === 0x96 && store[at + 2] === 0x81 && at + 2 < end;
      if (mark && !marked && counts(id)) {
        if (found.length === mostAcross) return null;
        found.push(tokens.text(id));
        break;
      }
      marked = mark;
      at += mark ? 3 : 1;
    }
  }
  return found;
}
