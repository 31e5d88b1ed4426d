import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Joiner, mergeSymbols } from "../../../../app/token/merge.ts";

/** Ranks by pair of small symbols; each merge makes a symbol of its own. */
function joinerOf(ranks: ReadonlyMap<string, number>): Joiner {
  const rank = (left: number, right: number): number => ranks.get(`${left},${right}`) ?? Number.POSITIVE_INFINITY;
  return { priority: rank, join: (left, right) => 10 + rank(left, right) };
}

/** The definition, one merge at a time. */
function slow(symbols: number[], joiner: Joiner): number[] {
  const row = [...symbols];
  for (;;) {
    let best = Number.POSITIVE_INFINITY;
    let at = -1;
    for (let i = 0; i + 1 < row.length; i++) {
      const priority = joiner.priority(row[i] as number, row[i + 1] as number);
      if (priority < best) {
        best = priority;
        at = i;
      }
    }
    if (at < 0) return row;
    row.splice(at, 2, joiner.join(row[at] as number, row[at + 1] as number));
  }
}

describe("mergeSymbols", () => {
  it("merges short and long rows as the definition says", () => {
    const pair = fc.tuple(fc.integer({ min: 0, max: 14 }), fc.integer({ min: 0, max: 14 }));
    fc.assert(
      fc.property(
        fc.uniqueArray(pair, { maxLength: 12, selector: (each) => each.join() }),
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 90 }),
        (pairs, symbols) => {
          const joiner = joinerOf(new Map(pairs.map((each, rank) => [each.join(), rank])));
          const row = Int32Array.from(symbols);
          const left = mergeSymbols(row, row.length, joiner);
          expect([...row.subarray(0, left)]).toEqual(slow(symbols, joiner));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("needs n log n steps for a long run of one symbol", () => {
    let asked = 0;
    const joiner: Joiner = {
      priority: (left, right) => {
        asked++;
        return left === right && left < 12 ? left : Number.POSITIVE_INFINITY;
      },
      join: (left) => left + 1,
    };
    const length = 1 << 16;
    const row = new Int32Array(length);
    expect(mergeSymbols(row, length, joiner)).toBe(length >> 12);
    expect(asked).toBeLessThan(length * 8);
  });
});
