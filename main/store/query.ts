/** A search query as folded terms, and the excerpt around what they match. Pure. */
import { fold, foldWithPositions, sourceRange } from "./fold.ts";

const snippetBefore = 48;
const snippetLength = 200;
/** More terms or matches than this say nothing more to a reader. */
const mostTerms = 16;
const mostMatches = 100;

/** Words are terms that must all occur, anywhere, also inside a word; "quoted words" are one term. Nothing else has a meaning. */
export function parseQuery(query: string): string[] {
  const terms = new Set<string>();
  for (const part of query.matchAll(/"([^"]+)"|(\S+)/g)) {
    const term = fold(part[1] ?? part[2] ?? "").trim();
    if (term !== "") terms.add(term);
  }
  return [...terms].slice(0, mostTerms);
}

/** Too short for a trigram of its own. */
export function isShort(term: string): boolean {
  return [...term].length < 3;
}

/** A long term is known by the first of its trigrams; the text itself is asked afterwards. */
export function trigramsOf(term: string): string[] {
  const characters = [...term];
  const trigrams = new Set<string>();
  for (let i = 0; i + 3 <= characters.length && trigrams.size < 32; i++) {
    trigrams.add(characters.slice(i, i + 3).join(""));
  }
  return [...trigrams];
}

/** As an FTS5 string, in which nothing has a meaning. */
export function quoted(trigram: string): string {
  return `"${trigram.replace(/"/g, '""')}"`;
}

/** Folded text as it is indexed: with an end, so that its last characters begin a trigram too. */
export function indexForm(folded: string): string {
  return `${folded}  `;
}

export interface Excerpt {
  snippet: string;
  matches: [number, number][];
}

/** Null unless every term occurs in `text`. */
export function excerpt(text: string, terms: string[]): Excerpt | null {
  const quick = fold(text);
  if (terms.length === 0 || !terms.every((term) => quick.includes(term))) return null;
  // Positions cost much more than folding; only a text that matches pays for them, and only around its first match.
  const first = Math.min(...terms.map((term) => quick.indexOf(term)));
  const from = sourceOffset(text, first);
  const begin = wordStart(text, Math.max(0, from - snippetBefore), from);
  const end = wordEnd(text, Math.min(text.length, begin + snippetLength));
  const body = text.slice(begin, end).replace(/\s/g, " ");
  const lead = begin > 0 ? "…" : "";
  const ranges = matchRanges(body, terms).map(([a, b]): [number, number] => [a + lead.length, b + lead.length]);
  return { snippet: lead + body + (end < text.length ? "…" : ""), matches: ranges };
}

const stretch = 4096;

/** Where in `source` the folded unit `unit` begins: whole stretches are counted, the one that holds it is looked at closely. */
function sourceOffset(source: string, unit: number): number {
  let counted = 0;
  for (let from = 0; from < source.length; ) {
    let to = Math.min(source.length, from + stretch);
    if (isLow(source, to)) to += 1;
    const length = fold(source.slice(from, to)).length;
    if (counted + length > unit) {
      return from + (foldWithPositions(source.slice(from, to)).start[unit - counted] ?? 0);
    }
    counted += length;
    from = to;
  }
  return source.length;
}

function matchRanges(body: string, terms: string[]): [number, number][] {
  const folded = foldWithPositions(body);
  const ranges: [number, number][] = [];
  for (const term of terms) {
    for (
      let at = folded.text.indexOf(term);
      at >= 0 && ranges.length < mostMatches;
      at = folded.text.indexOf(term, at + term.length)
    ) {
      ranges.push(sourceRange(folded, at, at + term.length));
    }
  }
  return merge(ranges);
}

function merge(ranges: [number, number][]): [number, number][] {
  const merged: [number, number][] = [];
  for (const [from, to] of ranges.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = merged[merged.length - 1];
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** The next word's start after `at`, when there is one before `limit`; never inside a surrogate pair. */
function wordStart(text: string, at: number, limit: number): number {
  if (at === 0) return 0;
  for (let i = at; i < limit; i++) if (/\s/.test(text.charAt(i - 1)) && !/\s/.test(text.charAt(i))) return i;
  return isLow(text, at) ? at - 1 : at;
}

function wordEnd(text: string, at: number): number {
  if (at === text.length) return at;
  for (let i = at; i > at - 24 && i > 0; i--) if (/\s/.test(text.charAt(i))) return i;
  return isLow(text, at) ? at + 1 : at;
}

function isLow(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
