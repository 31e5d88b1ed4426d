/** Characters as the bytes of UTF-8. */
import type { Range } from "../grammar/expression.ts";

/** The UTF-8 of all characters in these ranges, as sequences of byte ranges. */
export function byteSequences(ranges: readonly Range[]): Range[][] {
  const found: Range[][] = [];
  const lengths: readonly Range[] = [
    [0, 0x7f],
    [0x80, 0x7ff],
    [0x800, 0xffff],
    [0x10000, 0x10ffff],
  ];
  for (const [from, to] of ranges) {
    lengths.forEach(([first, last], more) => {
      const low = Math.max(from, first);
      const high = Math.min(to, last);
      if (low <= high) found.push(...split(low, high, more));
    });
  }
  return found;
}

/** Characters low..high, all with `more` bytes behind the first, so that each byte's range is independent of the others. */
function split(low: number, high: number, more: number): Range[][] {
  for (let tail = more; tail > 0; tail--) {
    const size = 64 ** tail;
    // A part that does not fill its block of `tail` bytes is cut off at the block's border.
    if (Math.floor(low / size) === Math.floor(high / size)) continue;
    const above = Math.ceil(low / size) * size;
    if (above > low) return [...split(low, above - 1, more), ...split(above, high, more)];
    const below = Math.floor((high + 1) / size) * size;
    if (below <= high) return [...split(low, below - 1, more), ...split(below, high, more)];
  }
  const from = encoded(low, more);
  const to = encoded(high, more);
  return [from.map((byte, index): Range => [byte, to[index] as number])];
}

function encoded(point: number, more: number): number[] {
  if (more === 0) return [point];
  const bytes: number[] = [];
  let rest = point;
  for (let index = 0; index < more; index++) {
    bytes.unshift(0x80 | (rest & 0x3f));
    rest >>= 6;
  }
  bytes.unshift(([0xc0, 0xe0, 0xf0][more - 1] as number) | rest);
  return bytes;
}
