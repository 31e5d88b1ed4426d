/** A reply while it is split: pieces of a kind, taken off the front of what is not yet told apart. */

export type PieceKind = "text" | "reasoning" | "markup";

export interface Piece {
  kind: PieceKind;
  text: string;
}

export interface Held {
  /** What came and belongs to no piece yet. */
  text: string;
  /** Takes `length` UTF-16 units off the front; they join the last of `pieces` if that is of their kind. */
  take(pieces: Piece[], kind: PieceKind, length: number): void;
  /** UTF-16 units of white space at the front. */
  blank(): number;
}

export function createHeld(): Held {
  const held: Held = {
    text: "",
    take: (pieces, kind, length) => {
      if (length === 0) return;
      const text = held.text.slice(0, length);
      held.text = held.text.slice(length);
      const last = pieces[pieces.length - 1];
      if (last !== undefined && last.kind === kind) last.text += text;
      else pieces.push({ kind, text });
    },
    blank: () => held.text.length - held.text.trimStart().length,
  };
  return held;
}

/** Adds `text` and takes steps until one says that it has to wait. Each that says true has moved on to another state. */
export function pushThrough(held: Held, text: string, step: (pieces: Piece[]) => boolean): Piece[] {
  held.text += text;
  const pieces: Piece[] = [];
  while (step(pieces));
  return pieces;
}
