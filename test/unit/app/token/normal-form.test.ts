import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toNormalForm } from "../../../../app/token/normal-form.ts";
import { textShapes } from "../../../fixtures/text-shape.ts";

describe("normal forms", () => {
  // Of classes 0 (a vowel sign, an enclosing circle), 1, 7, 9, 202, 220, 230, 240, one that decomposes, one beyond the plane.
  const mark = fc.constantFrom(
    ..."\u0301\u0300\u0327\u0323\u0334\u0345\u0344\u093c\u094d\u0e38\u093e\u20dd\u3099\u{1d165}\u{1d16d}",
  );
  const base = fc.constantFrom("e", "", "か", "क", "a\u0308", " ");
  const text = fc
    .array(fc.tuple(base, fc.array(mark, { maxLength: 150 })), { maxLength: 4 })
    .map((parts) => parts.map(([letter, marks]) => letter + marks.join("")).join(""));

  it("are the built-in ones, also of long runs of marks", () => {
    fc.assert(
      fc.property(text, (each) => {
        for (const form of ["NFC", "NFD"] as const) expect(toNormalForm(each, form)).toBe(each.normalize(form));
      }),
      { numRuns: 500 },
    );
  });

  it("of every mark there is", () => {
    const marks: string[] = [];
    for (let code = 0x300; code < 0x1f000; code++) {
      const character = String.fromCodePoint(code);
      if (/\p{M}/u.test(character)) marks.push(character);
    }
    const run = `e${[...marks, ...marks].reverse().join("")}`;
    expect(toNormalForm(run, "NFC")).toBe(run.normalize("NFC"));
    expect(marks.length).toBeGreaterThan(2000);
  });

  it("take no minutes for a text of nothing but marks", () => {
    // Each step of the built-in form would walk over half of them.
    const marks = textShapes["deep marks"]?.(400_000) ?? "";
    const counted = (all: string): string => Array.from(all).sort().join("");
    expect(counted(toNormalForm(marks, "NFD"))).toBe(
      counted(Array.from(marks, (each) => each.normalize("NFD")).join("")),
    );
  });
});
