import { describe, expect, test } from "vitest";
import { hashOfSession, sessionOfHash } from "../../../../renderer/logic/address.ts";
import { clamp, markPieces } from "../../../../renderer/logic/excerpt.ts";
import { describe as describeKey, matches } from "../../../../renderer/logic/key.ts";
import { countLines, isLongPaste } from "../../../../renderer/logic/paste.ts";
import { parseField, samplingFields } from "../../../../renderer/logic/sampling.ts";

describe("search snippets", () => {
  test("are cut at their matches, and give the whole text back", () => {
    const pieces = markPieces("a duration is a duration", [
      [16, 24],
      [2, 10],
    ]);
    expect(pieces.filter((piece) => piece.marked).map((piece) => piece.text)).toEqual(["duration", "duration"]);
    expect(pieces.map((piece) => piece.text).join("")).toBe("a duration is a duration");
  });

  test("survive ranges that overlap or lie outside", () => {
    const pieces = markPieces("abc", [
      [1, 9],
      [0, 2],
    ]);
    expect(pieces.map((piece) => piece.text).join("")).toBe("abc");
  });
});

describe("folding", () => {
  test("by characters and by lines", () => {
    expect(clamp("abcdef", 4, 10)).toEqual({ text: "abcd", hidden: 2 });
    expect(clamp("a\nb\nc\nd", 100, 2)).toEqual({ text: "a\nb", hidden: 4 });
    expect(clamp("abc", 4, 10)).toEqual({ text: "abc", hidden: 0 });
  });

  test("never through a character", () => expect(clamp("ab👋", 3, 10)).toEqual({ text: "ab", hidden: 2 }));
});

describe("shortcuts", () => {
  const press = { key: "K", ctrlKey: true, metaKey: false, altKey: false, shiftKey: false };

  test("Mod is Control, on a Mac Command", () => {
    expect(matches("Mod+K", press, false)).toBe(true);
    expect(matches("Mod+K", press, true)).toBe(false);
    expect(matches("Mod+K", { ...press, ctrlKey: false, metaKey: true }, true)).toBe(true);
  });

  test("a further modifier is another shortcut", () => {
    expect(matches("Mod+K", { ...press, shiftKey: true }, false)).toBe(false);
    expect(matches("Mod+Shift+K", { ...press, shiftKey: true }, false)).toBe(true);
    expect(matches("Mod+K", { ...press, altKey: true }, false)).toBe(false);
  });

  test("are shown as the platform writes them", () => {
    expect(describeKey("Mod+Shift+Enter", false)).toBe("Ctrl Shift Enter");
    expect(describeKey("Mod+N", true)).toBe("⌘N");
    expect(describeKey("Alt+ArrowLeft", false)).toBe("Alt ←");
    expect(describeKey("Escape", false)).toBe("Esc");
  });
});

test("long pastes", () => {
  expect(countLines("a\nb\n")).toBe(3);
  expect(isLongPaste("x".repeat(20_000))).toBe(false);
  expect(isLongPaste("x".repeat(20_001))).toBe(true);
  expect(isLongPaste("\n".repeat(400))).toBe(true);
});

test("the shown chat stands in the address", () => {
  expect(sessionOfHash(hashOfSession("a/b é"))).toBe("a/b é");
  expect(sessionOfHash(hashOfSession(null))).toBeNull();
  expect(sessionOfHash("#/chat/%E0%A4%A")).toBeNull();
});

test("sampling fields take numbers in range, empty as the model's own, and refuse the rest", () => {
  const [temperature] = samplingFields;
  const topK = samplingFields.find((field) => field.key === "topK");
  if (!temperature || !topK) throw new Error("fields are missing");
  expect(parseField(temperature, " 0,7 ")).toBe(0.7);
  expect(parseField(temperature, "")).toBeNull();
  expect(parseField(temperature, "9")).toBeUndefined();
  expect(parseField(temperature, "warm")).toBeUndefined();
  expect(parseField(topK, "40.5")).toBeUndefined();
});
