export interface Piece {
  text: string;
  marked: boolean;
}

/** Cuts a snippet at its match ranges [start, end). Ranges out of order, overlapping or out of bounds are put right. */
export function markPieces(snippet: string, ranges: readonly (readonly [number, number])[]): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const start = Math.max(at, Math.min(from, snippet.length));
    const end = Math.min(Math.max(to, start), snippet.length);
    if (start > at) pieces.push({ text: snippet.slice(at, start), marked: false });
    if (end > start) pieces.push({ text: snippet.slice(start, end), marked: true });
    at = Math.max(at, end);
  }
  if (at < snippet.length) pieces.push({ text: snippet.slice(at), marked: false });
  return pieces;
}

export interface Clamped {
  text: string;
  /** Characters left out. */
  hidden: number;
}

/** The beginning of a long text, by characters and lines, never through a surrogate pair. */
export function clamp(text: string, maxCharacters: number, maxLines: number): Clamped {
  let end = Math.min(text.length, maxCharacters);
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) {
    lines += 1;
    if (lines >= maxLines) end = at;
  }
  const last = text.charCodeAt(end - 1);
  if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
  return { text: text.slice(0, end), hidden: text.length - end };
}
