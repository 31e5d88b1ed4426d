/** The most characters an automatic title has. */
export const titleLength = 60;

/** A title from the first user message: its first line with words in it, cut at a word's end. Null when there is nothing to show. */
export function titleFrom(text: string): string | null {
  for (const line of text.split(/\r\n|\r|\n/)) {
    const words = line
      .replace(/[\p{Cc}\p{Cf}\p{White_Space}]+/gu, " ")
      .replace(/^(?:[#>*-]+ )+/u, "")
      .trim();
    if (!/[\p{L}\p{N}\p{S}\p{P}]/u.test(words)) continue;
    const characters = Array.from(words);
    if (characters.length <= titleLength) return words;
    const head = characters.slice(0, titleLength - 1);
    const border = characters[titleLength - 1] === " " ? titleLength - 1 : head.lastIndexOf(" ");
    // A single long word, or a language without spaces, is cut where it is.
    const kept = border > titleLength / 3 ? head.slice(0, border) : head;
    return `${kept.join("").trimEnd()}…`;
  }
  return null;
}
