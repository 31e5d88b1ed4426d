import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { titleFrom, titleLength } from "../../../../app/session/title.ts";

describe("titleFrom", () => {
  it.each([
    ["List three fruits.", "List three fruits."],
    ["\n\n  Hello \t there\r\nsecond line", "Hello there"],
    ["# A heading", "A heading"],
    ["- [ ] a task", "[ ] a task"],
    ["a\u0000b\u200b c", "a b c"],
    ["👋", "👋"],
  ])("%j is %j", (text, title) => {
    expect(titleFrom(text)).toBe(title);
  });

  it("cuts at a word's end", () => {
    expect(titleFrom(`${"word ".repeat(30)}`)).toBe(`${"word ".repeat(12).trim()}…`);
    expect(titleFrom("x".repeat(100))).toBe(`${"x".repeat(titleLength - 1)}…`);
  });

  it("is null when there is nothing to show", () => {
    expect(titleFrom(" \n\t\u200b\n")).toBeNull();
  });

  it("is short, trimmed, one line, and cuts no character in two", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (text) => {
        const title = titleFrom(text);
        if (title === null) return;
        expect(Array.from(title).length).toBeLessThanOrEqual(titleLength);
        expect(title).toBe(title.trim());
        expect(title).not.toMatch(/[\r\n]|\p{Surrogate}/u);
      }),
    );
  });
});
