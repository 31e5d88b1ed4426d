/** What the peer bench makes of its measurements. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { decoded, distance } from "../../bench/agreement.ts";
import { type Entrant, ours, quickest } from "../../bench/entrant.ts";
import { heat, interleave } from "../../bench/round.ts";
import { summarise } from "../../bench/summary.ts";

const entrant = (engine: string, setting: string, attention = ""): Entrant => ({
  engine,
  setting,
  attention,
  open: () => Promise.reject(new Error("not opened here")),
});
const own = entrant(ours, "");
const [on, off] = [entrant("llama.cpp", "on"), entrant("llama.cpp", "off")];

describe("turns", () => {
  it("gives every entrant each place in turn and does not count the warm-up", async () => {
    const order: string[][] = [[], [], [], []];
    const found = await interleave([own, on, off], {
      rounds: 3,
      warmUp: true,
      measure: async ({ engine, setting }, round) => {
        order[round]?.push(`${engine} ${setting}`);
        return round;
      },
    });
    expect(new Set(order.map(([first]) => first)).size).toBe(3);
    for (const round of order) expect(new Set(round).size).toBe(3);
    for (const entrant of [own, on, off]) expect(found.get(entrant)).toEqual([1, 2, 3]);
  });

  it("leaves a setting out that is clearly slower than another of its engine, never an engine", () => {
    const slow = heat(
      new Map([
        [own, 900],
        [on, 100],
        [off, 150],
      ]),
    );
    expect(slow).toEqual({ stay: [own, on], out: [{ entrant: off, slower: 1.5 }] });
    const near = heat(
      new Map([
        [on, 110],
        [off, 100],
      ]),
    );
    expect(near).toEqual({ stay: [on, off], out: [] });
  });

  it("knows the quicker of two settings with the same attention", () => {
    const all = [own, entrant("ik", "a", "flash"), entrant("ik", "b", "flash"), entrant("ik", "c", "plain")];
    const time = ({ setting }: Entrant): number => ({ a: 3, b: 2, c: 9 })[setting] ?? 1;
    expect(quickest(all, time).map(({ setting }) => setting)).toEqual(["", "b", "c"]);
  });
});

describe("summary", () => {
  it("takes the ratio of each round and the better setting of each engine", () => {
    const found = new Map([
      [own, [10, 40, 30]],
      [on, [5, 10, 10]],
      [off, [4, 4, 4]],
    ]);
    expect(summarise("decode", "tokens/s", found, true)).toEqual({
      what: "decode",
      unit: "tokens/s",
      ours: { median: 30, least: 10, most: 40, values: [10, 40, 30] },
      rivals: [
        {
          engine: "llama.cpp",
          setting: "on",
          figure: { median: 10, least: 5, most: 10, values: [5, 10, 10] },
          others: { off: { median: 4, least: 4, most: 4, values: [4, 4, 4] } },
          ratio: 3,
        },
      ],
    });
    expect(summarise("", "", found, false).rivals[0]?.setting).toBe("off");
  });
});

describe("agreement", () => {
  const folder = mkdtempSync(join(tmpdir(), "halogen-agreement-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const rows = (name: string, values: number[][]) => {
    const path = join(folder, name);
    writeFileSync(path, Float32Array.from(values.flat().map(Math.log)));
    return { path, rows: values.length, width: values[0]?.length ?? 0 };
  };
  const truth = rows("truth", [
    [0.5, 0.25, 0.25],
    [0.1, 0.8, 0.1],
  ]);

  it("is the mean divergence from the truth, and how often the likeliest is the same", () => {
    const other = rows("other", [
      [0.25, 0.5, 0.25],
      [0.1, 0.8, 0.1],
    ]);
    const { meanKl, sameBest } = distance(truth, other);
    expect(meanKl).toBeCloseTo((0.5 * Math.log(2) - 0.25 * Math.log(2)) / 2, 6);
    expect(sameBest).toBe(0.5);
    expect(distance(truth, truth)).toEqual({ meanKl: 0, sameBest: 1 });
  });

  it("counts decoded tokens that are the likeliest, and what the others lose", () => {
    expect(decoded(truth, [0, 1])).toEqual({ tokens: 2, likeliest: 2, lost: 0 });
    const { likeliest, lost } = decoded(truth, [1, 1]);
    expect(likeliest).toBe(1);
    expect(lost).toBeCloseTo(Math.log(2), 6);
  });

  it("refuses scores that are cut short, of another size or no numbers", () => {
    expect(() => distance(truth, rows("few", [[1, 0, 0]]))).toThrow("1 rows of 3 against 2 of 3");
    writeFileSync(join(folder, "cut"), new Float32Array(4));
    expect(() => distance(truth, { ...truth, path: join(folder, "cut") })).toThrow("4 bytes instead of 12");
    expect(() =>
      distance(
        truth,
        rows("nan", [
          [Number.NaN, 0, 0],
          [1, 0, 0],
        ]),
      ),
    ).toThrow("is no number");
    expect(() => decoded(truth, [0])).toThrow("2 rows for 1 tokens");
  });
});
