import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createByteTable } from "../../../../app/token/byte-table.ts";
import { createPairTable } from "../../../../app/token/pair-table.ts";

describe("the byte table", () => {
  it("finds what was added and nothing else, far beyond the size it expected", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 6 }), { maxLength: 200 }), (texts) => {
        const [inside, outside] = [texts.slice(0, texts.length / 2), texts.slice(texts.length / 2)];
        const store = Buffer.from(inside.join(""), "utf8");
        const table = createByteTable(store, 1);
        let at = 0;
        inside.forEach((text, id) => {
          const end = at + Buffer.byteLength(text);
          expect(table.add(at, end, id)).toBe(id);
          expect(table.add(at, end, id + 1000)).toBe(id);
          at = end;
        });
        const find = (text: string): number => table.find(Buffer.from(text, "utf8"), 0, Buffer.byteLength(text));
        for (const [id, text] of inside.entries()) expect(find(text)).toBe(id);
        for (const text of outside) expect(find(text)).toBe(-1);
      }),
    );
  });
});

describe("the pair table", () => {
  it("gives rank and result of each pair, the first where a pair comes twice", () => {
    const table = createPairTable(3);
    table.add(7, 8, 0, 100);
    table.add(8, 7, 1, 101);
    table.add(7, 8, 2, 102);
    expect([table.rank(7, 8), table.rank(8, 7), table.rank(7, 7), table.rank(-5, 8)]).toEqual([0, 1, -1, -1]);
    expect(table.result(table.rank(8, 7))).toBe(101);
  });
});
