/** Remembers the ids of short pieces, which come again and again. */

/** Longer pieces are rarely seen twice. */
const longestCached = 48;
const mostCached = 65_536;

/** `encode` appends the ids of a piece; so does what is returned. */
export function cachePieces(encode: (piece: string, ids: number[]) => void): (piece: string, ids: number[]) => void {
  const known = new Map<string, number[]>();
  return (piece, ids) => {
    if (piece.length > longestCached) {
      encode(piece, ids);
      return;
    }
    let found = known.get(piece);
    if (found === undefined) {
      found = [];
      encode(piece, found);
      if (known.size >= mostCached) known.clear();
      known.set(piece, found);
    }
    for (const id of found) ids.push(id);
  };
}
