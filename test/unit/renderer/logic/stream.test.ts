import { describe, expect, test } from "vitest";
import type { Block } from "../../../../app/contract/message.ts";
import { applyDelta, type Delta, furtherOf } from "../../../../renderer/logic/stream.ts";

function delta(values: Partial<Delta>): Delta {
  const base = {
    sessionId: "s",
    messageId: "m",
    block: 0,
    type: "text" as const,
    offset: 0,
    text: "",
    tokens: 1,
    tokensPerSecond: 1,
  };
  return { ...base, ...values };
}

const hello: readonly Block[] = [{ type: "text", text: "Hello" }];

describe("a delta", () => {
  test("is added at the end", () => {
    expect(applyDelta(hello, delta({ offset: 5, text: " there" }))).toEqual([{ type: "text", text: "Hello there" }]);
  });

  test("makes the block that it begins, and ends the reasoning before it", () => {
    const thinking: Block[] = [{ type: "reasoning", text: "hm", finished: false, milliseconds: null, tokens: null }];
    expect(applyDelta(thinking, delta({ block: 1, text: "Yes" }))).toEqual([
      { ...thinking[0], finished: true },
      { type: "text", text: "Yes" },
    ]);
  });

  test("that overlaps brings only what is new; one that is known changes nothing", () => {
    expect(applyDelta(hello, delta({ offset: 3, text: "lo all" }))).toEqual([{ type: "text", text: "Hello all" }]);
    expect(applyDelta(hello, delta({ offset: 2, text: "ll" }))).toBe(hello);
  });

  test("after a gap, in a block too far, or of another kind is refused", () => {
    expect(applyDelta(hello, delta({ offset: 6, text: "x" }))).toBeNull();
    expect(applyDelta(hello, delta({ block: 2, text: "x" }))).toBeNull();
    expect(applyDelta(hello, delta({ type: "reasoning", offset: 5, text: "x" }))).toBeNull();
  });

  test("counts UTF-16 units, as main does", () => {
    const wave: Block[] = [{ type: "text", text: "👋" }];
    expect(applyDelta(wave, delta({ offset: 2, text: "!" }))).toEqual([{ type: "text", text: "👋!" }]);
  });
});

test("of two copies of a streaming reply the longer counts", () => {
  const longer: Block[] = [{ type: "text", text: "Hello there" }];
  expect(furtherOf(hello, longer)).toBe(longer);
  expect(furtherOf(longer, hello)).toBe(longer);
});
