import { describe, expect, test } from "vitest";
import {
  biasRange,
  choiceName,
  parseBias,
  parseTokenChoice,
  visibleToken,
  withEntry,
  withoutEntry,
} from "../../../../renderer/logic/token-choice.ts";

describe("a token that is named", () => {
  test("by a text keeps each character, spaces and digits too", () => {
    expect(parseTokenChoice("text", " 12 ", null)).toEqual({ choice: " 12 ", problem: null });
    expect(parseTokenChoice("text", "", null)).toEqual({ choice: null, problem: null });
    expect(parseTokenChoice("text", "x".repeat(100), null).choice).toHaveLength(100);
    expect(parseTokenChoice("text", "x".repeat(101), null)).toEqual({
      choice: null,
      problem: "At most 100 characters.",
    });
  });

  test("by its number is within the vocabulary", () => {
    expect(parseTokenChoice("number", " 12 ", 13)).toEqual({ choice: 12, problem: null });
    expect(parseTokenChoice("number", "", 13)).toEqual({ choice: null, problem: null });
    expect(parseTokenChoice("number", "13", 13).problem).toBe("This model's tokens are from 0 to 12.");
    for (const typed of ["1.5", "-1", "1e3", "twelve", "2147483648"]) {
      expect(parseTokenChoice("number", typed, null).problem).toMatch(/^A token's number is from 0 to/);
    }
  });

  test("has a bias in range, with either sign and comma", () => {
    expect([parseBias("-2,5"), parseBias(" +3 "), parseBias("−1"), parseBias("0")]).toEqual([-2.5, 3, -1, 0]);
    expect(parseBias(String(biasRange.max))).toBe(1000);
    for (const typed of ["", " ", "1000.1", "-1001", "x", "Infinity"]) expect(parseBias(typed)).toBeUndefined();
  });

  test("stands in the list once, under its text or its number", () => {
    const one = withEntry([], { token: 1, bias: 2 });
    const two = withEntry(one, { token: "1", bias: 3 });
    expect(two).toEqual([
      { token: 1, bias: 2 },
      { token: "1", bias: 3 },
    ]);
    expect(withEntry(two, { token: 1, bias: -1 })).toEqual([
      { token: 1, bias: -1 },
      { token: "1", bias: 3 },
    ]);
    expect(withoutEntry(two, 1)).toEqual([{ token: "1", bias: 3 }]);
  });

  test("shows its white space", () => {
    expect(visibleToken(" a\n\t")).toBe("␣a↵⇥");
    expect(visibleToken("")).toBe("(nothing)");
    expect([choiceName(7), choiceName(" a")]).toEqual(["token 7", "“␣a”"]);
  });
});
