import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMergeTable } from "../../../../app/token/merge-table.ts";
import { createSymbolTable } from "../../../../app/token/symbol-table.ts";
import { readTokenBytes } from "../../../../app/token/token-bytes.ts";
import { packedStrings } from "../../../fixtures/gguf-vocabulary.ts";
import { pieceVocabulary } from "./vocabulary.ts";

/** Every text of `texts` is a token that merges can make; the first one has this id. */
const first = 259;
const tableOf = (texts: readonly string[]) =>
  createSymbolTable(readTokenBytes(pieceVocabulary(texts.map((text) => [text, 0])), false));
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "utf8"));

describe("the symbol table", () => {
  const texts = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom("a", "b", "é", "漢") }), {
    maxLength: 120,
  });

  it("finds tokens and nothing else, whole and by two parts", () => {
    fc.assert(
      fc.property(texts, (all) => {
        const inside = all.slice(0, all.length / 2);
        const outside = all.slice(all.length / 2);
        const table = tableOf(inside);
        const find = (text: string): number => table.find(bytes(text), 0, bytes(text).length);
        for (const [at, text] of inside.entries()) expect(find(text)).toBe(first + at);
        for (const text of outside) expect(find(text)).toBe(-1);
        for (const left of inside.slice(0, 8)) {
          for (const right of inside.slice(0, 8)) {
            const at = inside.indexOf(left + right);
            expect(table.findJoined(find(left), find(right))).toBe(at < 0 ? -1 : first + at);
          }
        }
      }),
    );
  });

  it("makes one symbol of one string, however it came about", () => {
    const table = tableOf(["a", "b"]);
    const ab = table.internJoined(first, first + 1);
    expect(ab).toBe(first + 2);
    expect(table.intern(bytes("ab"), 0, 2)).toBe(ab);
    const aba = table.internJoined(ab, first);
    expect(table.internJoined(first, table.intern(bytes("ba"), 0, 2))).toBe(aba);
    expect(Buffer.from(table.bytesOf(aba)).toString()).toBe("aba");
    expect(table.extras).toBe(3);
    table.dropExtras();
    expect(table.find(bytes("ab"), 0, 2)).toBe(-1);
    expect(table.find(bytes("a"), 0, 1)).toBe(first);
  });

  it("takes the first of equal tokens, and none that merges cannot make", () => {
    const table = tableOf(["a", "b", "a"]);
    expect(table.find(bytes("a"), 0, 1)).toBe(first);
    expect(table.find(bytes("</s>"), 0, 4)).toBe(-1);
  });

  it("is made in steps in proportion to the tokens, also when thousands are equal", () => {
    const table = tableOf(Array.from({ length: 100_000 }, () => "same"));
    expect(table.find(bytes("same"), 0, 4)).toBe(first);
  });
});

describe("the merge table", () => {
  it("gives the rank of each pair, the first where one comes twice", () => {
    const table = tableOf(["a", "b", "c d", "d"]);
    const merges = createMergeTable(packedStrings(["a b", "b a", "a b", " d a", "a c d"]), false, table);
    const [a, b, spaced, d] = [first, first + 1, first + 2, first + 3];
    expect(merges.rank(a, b)).toBe(0);
    expect(merges.rank(b, a)).toBe(1);
    expect(merges.rank(a, a)).toBe(-1);
    // The first space behind the first character parts a merge.
    expect(merges.rank(a, spaced)).toBe(4);
    expect(merges.rank(table.intern(bytes(" d"), 0, 2), a)).toBe(3);
    expect(merges.rank(d, a)).toBe(-1);
  });

  it("refuses merges without two parts", () => {
    for (const bad of ["ab", "a ", " b", ""])
      expect(() => createMergeTable(packedStrings(["a b", bad]), false, tableOf(["a"]))).toThrow(/Merge 1 /);
  });
});
