import { describe, expect, test } from "vitest";
import {
  formatDuration,
  formatPercent,
  formatRate,
  formatRemaining,
  plural,
} from "../../../../renderer/logic/number.ts";

describe("numbers as they are shown", () => {
  test.each([
    [210, "0.21 s"],
    [6200, "6.2 s"],
    [72_000, "1 min 12 s"],
    [3_720_000, "1 h 2 min"],
  ])("%d ms", (milliseconds, words) => expect(formatDuration(milliseconds)).toBe(words));

  test("percent never says none of something nor all of less", () => {
    expect(formatPercent(1, 8192)).toBe("<1%");
    expect(formatPercent(8191, 8192)).toBe("99%");
    expect(formatPercent(8192, 8192)).toBe("100%");
    expect(formatPercent(0, 8192)).toBe("0%");
    expect(formatPercent(5, 0)).toBe("0%");
  });

  test("rates and counts", () => {
    expect(formatRate(58.34)).toBe("58.3 tok/s");
    expect(formatRate(412.7)).toBe("413 tok/s");
    expect(plural(1, "token")).toBe("1 token");
    expect(plural(8214, "token")).toBe("8,214 tokens");
  });

  test("what is left is told only where it can be", () => {
    expect(formatRemaining(0, 98_000_000, 5_000_000)).toBe("20 s left");
    expect(formatRemaining(0, 98_000_000, 0)).toBe("");
    expect(formatRemaining(0, null, 5_000_000)).toBe("");
    expect(formatRemaining(0, 36e9, 5_000_000)).toBe("2 h 0 min left");
  });
});
