/** Remembers the ids of short pieces, which come again and again. Everything is in typed arrays: no piece is cut out of its text to be found. */

/** Appends the ids of `text[start..end]`. */
export type EncodePiece = (text: string, start: number, end: number, ids: number[]) => void;

/** Longer pieces are rarely seen twice. */
const longestCached = 48;
/** Four places a token are enough for a small vocabulary. */
const mostPlaces = 1 << 16;

/**
 * `tokens`: the size of the vocabulary. A place is [hash, first unit, first id, units | ids << 8]; the last is 0 when it is free. When something is full, all is
 * forgotten.
 */
export function cachePieces(encode: EncodePiece, tokens: number): EncodePiece {
  let places = 256;
  while (places < tokens * 4 && places < mostPlaces) places *= 2;
  const mostUnits = places * 8;
  const mostIds = places * 4;
  const slots = new Int32Array(places * 4);
  const units = new Uint16Array(mostUnits);
  const known = new Int32Array(mostIds);
  let pieces = 0;
  let unitsUsed = 0;
  let idsUsed = 0;

  const keep = (
    at: number,
    hash: number,
    text: string,
    start: number,
    end: number,
    ids: number[],
    from: number,
  ): void => {
    const length = end - start;
    const count = ids.length - from;
    if (pieces * 2 >= places || unitsUsed + length > mostUnits || idsUsed + count > mostIds) {
      slots.fill(0);
      pieces = 0;
      unitsUsed = 0;
      idsUsed = 0;
      // The free place that was found is not where this one now belongs; the next time it is kept.
      return;
    }
    slots[at] = hash;
    slots[at + 1] = unitsUsed;
    slots[at + 2] = idsUsed;
    slots[at + 3] = length | (count << 8);
    for (let i = start; i < end; i++) units[unitsUsed++] = text.charCodeAt(i);
    for (let i = from; i < ids.length; i++) known[idsUsed++] = ids[i] as number;
    pieces++;
  };

  return (text, start, end, ids) => {
    const length = end - start;
    if (length > longestCached) {
      encode(text, start, end, ids);
      return;
    }
    let hash = 0x811c9dc5;
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    let at = ((hash ^ (hash >>> 15)) & (places - 1)) * 4;
    for (; slots[at + 3] !== 0; at = (at + 4) & (places * 4 - 1)) {
      const size = slots[at + 3] as number;
      if (slots[at] !== hash || (size & 0xff) !== length) continue;
      const first = slots[at + 1] as number;
      let i = 0;
      while (i < length && units[first + i] === text.charCodeAt(start + i)) i++;
      if (i < length) continue;
      const from = slots[at + 2] as number;
      for (let id = from; id < from + (size >>> 8); id++) ids.push(known[id] as number);
      return;
    }
    const from = ids.length;
    encode(text, start, end, ids);
    keep(at, hash, text, start, end, ids, from);
  };
}
