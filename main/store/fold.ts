/**
 * Folding for search: letters without case and accents, compatibility forms as their plain ones, any white space as a space. It works code point
 * by code point, so the folded form of a text is that of its parts put together, and positions can be carried back.
 */

/** Latin, Greek and Cyrillic accents, Hebrew points, Arabic vowel signs. Marks that make another letter (kana, Indic) stay. */
const marks =
  /[\u0300-\u036f]|[\u0591-\u05bd]|[\u064b-\u0652]|[\u1ab0-\u1aff]|[\u1dc0-\u1dff]|[\u20d0-\u20ff]|[\ufe20-\ufe2f]/g;
/** Every white space but the plain one; a zero byte would end the text for SQLite. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: see above
const spaces = /[\u0000\t\n\v\f\r\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all but ASCII
const foreign = /[^\u0000-\u007f]+/g;

/** Letters that Unicode does not take apart, as people without them on the keyboard write them. */
const letters: Record<string, string> = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ı: "i", ς: "σ" };

/** ASCII is most of most texts and needs no more than lower case. */
export function fold(text: string): string {
  return text.toLowerCase().replace(foreign, foldForeign).replace(spaces, " ");
}

function foldForeign(run: string): string {
  const plain = run.normalize("NFKD").toLowerCase().replace(marks, "");
  return plain.replace(/[ßæœøłđıς]/g, (letter) => letters[letter] ?? letter);
}

/** Folded text with the way back: `start[i]` is where in the source the code point lies that made folded unit i. */
export interface FoldedText {
  text: string;
  /** One more entry than units: the last is the source's length. */
  start: Uint32Array;
}

export function foldWithPositions(source: string): FoldedText {
  const parts: string[] = [];
  const start: number[] = [];
  let position = 0;
  for (const character of source) {
    const folded = fold(character);
    parts.push(folded);
    for (let unit = 0; unit < folded.length; unit++) start.push(position);
    position += character.length;
  }
  start.push(position);
  return { text: parts.join(""), start: Uint32Array.from(start) };
}

/** Range in the source, widened to whole code points together with the accents that follow. */
export function sourceRange(folded: FoldedText, from: number, to: number): [number, number] {
  const begin = folded.start[from] ?? 0;
  let end = to;
  const last = folded.start[to - 1];
  while (end < folded.start.length - 1 && folded.start[end] === last) end++;
  return [begin, folded.start[end] ?? begin];
}
