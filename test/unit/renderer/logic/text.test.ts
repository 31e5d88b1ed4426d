import { describe, expect, test } from "vitest";
import { noSampling, ourSampling } from "../../../../app/contract/session.ts";
import { hashOfSession, sessionOfHash } from "../../../../renderer/logic/address.ts";
import { clamp, markPieces } from "../../../../renderer/logic/excerpt.ts";
import { describe as describeKey, matches } from "../../../../renderer/logic/key.ts";
import { countLines, isLongPaste } from "../../../../renderer/logic/paste.ts";
import {
  hintOf,
  parseField,
  parseTexts,
  samplingFields,
  samplingGroups,
  showTexts,
  textsProblem,
} from "../../../../renderer/logic/sampling.ts";
import { smallModel } from "../../../fixtures/page/sample.ts";

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

test("a value that the model file asks for is said to be the model's own", () => {
  const asked = { ...smallModel, defaults: { ...ourSampling, temperature: 0.6 }, hints: ["temperature" as const] };
  expect(hintOf("temperature", asked)).toBe("Model's own: 0.6.");
  expect(hintOf("topK", asked)).toBeNull();
  expect(hintOf("temperature", null)).toBeNull();
});

test("texts stand one a line, and come back as they were", () => {
  expect(parseTexts("User:\n\n\\n\n\\tx\\\\n")).toEqual(["User:", "\n", "\tx\\n"]);
  expect(parseTexts("\n")).toBeNull();
  for (const texts of [
    ["\n", ":", '"', "*"],
    ["\\n", "a\tb"],
  ])
    expect(parseTexts(showTexts(texts))).toEqual(texts);
});

test("texts that are too long or too many are said to be", () => {
  const [breakers] = samplingGroups.flatMap(({ texts }) => (texts === null ? [] : [texts]));
  if (!breakers) throw new Error("fields are missing");
  expect(textsProblem(breakers, null)).toBeNull();
  expect(textsProblem(breakers, Array(100).fill("x".repeat(100)))).toBeNull();
  expect(textsProblem(breakers, ["a", "x".repeat(101)])).toBe("At most 100 characters a line; text 2 has 101.");
  expect(textsProblem(breakers, Array(101).fill("x"))).toBe("At most 100 lines; there are 101.");
});

test("every number that a chat may choose has one field", () => {
  const fields = [...samplingFields, ...samplingGroups.flatMap((group) => group.fields)].map(({ key }) => key);
  const texts = samplingGroups.flatMap((group) => (group.texts === null ? [] : [group.texts.key]));
  expect(new Set(fields).size).toBe(fields.length);
  const others = ["logitBias", "suppress", "order", "thinking", "effort", "keepThoughts"];
  expect([...fields, ...texts, ...others].sort()).toEqual(Object.keys(noSampling).sort());
});
