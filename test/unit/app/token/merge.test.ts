import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMerger, type Joiner } from "../../../../app/token/merge.ts";

/** Ranks by pair of small symbols; each merge makes a symbol of its own. */
function joinerOf(ranks: ReadonlyMap<string, number>, symbolOf = (rank: number): number => 10 + rank): Joiner {
  const rank = (left: number, right: number): number => ranks.get(`${left},${right}`) ?? -1;
  return { ranks: 100, rank, join: (left, right) => symbolOf(rank(left, right)) };
}

/** The definition, one merge at a time. */
function slow(symbols: readonly number[], joiner: Joiner): number[] {
  const row = [...symbols];
  for (;;) {
    let best = -1;
    let at = -1;
    for (let i = 0; i + 1 < row.length; i++) {
      const rank = joiner.rank(row[i] as number, row[i + 1] as number);
      if (rank >= 0 && (at < 0 || rank < best)) {
        best = rank;
        at = i;
      }
    }
    if (at < 0) return row;
    row.splice(at, 2, joiner.join(row[at] as number, row[at + 1] as number));
  }
}

function merged(symbols: readonly number[], joiner: Joiner): number[] {
  const row = Int32Array.from(symbols);
  return [...row.subarray(0, createMerger(joiner)(row, row.length))];
}

describe("the merge loop", () => {
  const symbols = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 120 });
  const pair = fc.tuple(fc.integer({ min: 0, max: 14 }), fc.integer({ min: 0, max: 14 }));
  const pairs = fc.uniqueArray(pair, { maxLength: 16, selector: (each) => each.join() });

  it("merges short and long rows as the definition says", () => {
    fc.assert(
      fc.property(pairs, symbols, (list, row) => {
        const joiner = joinerOf(new Map(list.map((each, rank) => [each.join(), rank])));
        expect(merged(row, joiner)).toEqual(slow(row, joiner));
      }),
      { numRuns: 1500 },
    );
  });

  it("also where several pairs share a rank, and where a join makes pairs of lower ranks", () => {
    const ranked = fc.uniqueArray(fc.tuple(pair, fc.integer({ min: 0, max: 4 })), {
      maxLength: 24,
      selector: ([each]) => each.join(),
    });
    fc.assert(
      fc.property(ranked, symbols, (list, row) => {
        const ranks = new Map(list.map(([each, rank]) => [each.join(), rank]));
        const joiner: Joiner = { ...joinerOf(ranks), join: (left, right) => (left * 5 + right * 3) % 15 };
        // Symbols that come back make loops of merges impossible only because each merge shortens the row.
        expect(merged(row, joiner)).toEqual(slow(row, joiner));
      }),
      { numRuns: 1500 },
    );
  });

  it("is ready for the next row when it has done a long one", () => {
    const joiner = joinerOf(
      new Map([
        ["0,0", 0],
        ["10,10", 1],
        ["1,0", 2],
      ]),
    );
    const merge = createMerger(joiner);
    const run = (list: number[]): number[] => {
      const row = Int32Array.from(list);
      return [...row.subarray(0, merge(row, row.length))];
    };
    for (const length of [200, 40, 1000, 33]) {
      const list = Array.from({ length }, (_, i) => (i % 7 === 3 ? 1 : 0));
      expect(run(list)).toEqual(slow(list, joiner));
    }
  });

  it.each<[string, number, (i: number) => number]>([
    ["one symbol", 3, () => 0],
    ["two in turn", 4, (i) => i & 1],
    ["no order", 6, (i) => Math.imul(i ^ (i >>> 7), 0x9e3779b1) >>> 30],
  ])("asks in proportion to the length of a row of %s", (_, most, symbolAt) => {
    let asked = 0;
    const joiner: Joiner = {
      ranks: 64,
      rank: (left, right) => {
        asked++;
        return left === right && left < 15 ? left : left + right < 12 ? left + right + 20 : -1;
      },
      join: (left, right) => (left === right ? left + 1 : left + right + 16),
    };
    for (const length of [1 << 12, 1 << 16, 1 << 18]) {
      asked = 0;
      const row = Int32Array.from({ length }, (_, i) => symbolAt(i));
      createMerger(joiner)(row, length);
      expect(asked).toBeLessThan(length * most);
    }
  });
});
