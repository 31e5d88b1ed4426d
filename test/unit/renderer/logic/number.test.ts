import { describe, expect, test } from "vitest";
import {
  formatBytes,
  formatDuration,
  formatParameters,
  formatPercent,
  formatRate,
  formatRemaining,
  formatShare,
  plural,
} from "../../../../renderer/logic/number.ts";

const GiB = 1024 ** 3;

describe("numbers as they are shown", () => {
  test.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1536, "1.5 KiB"],
    [98_000_000, "93.5 MiB"],
    [96 * GiB, "96 GiB"],
    [20.44 * GiB, "20.4 GiB"],
  ])("%d bytes", (bytes, words) => expect(formatBytes(bytes)).toBe(words));

  test("a share has one unit, that of the whole", () => {
    expect(formatShare(24.7 * GiB, 96 * GiB)).toBe("24.7 of 96 GiB");
    expect(formatShare(0.25 * GiB, 96 * GiB)).toBe("0.3 of 96 GiB");
  });

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

  test("rates, parameters and counts", () => {
    expect(formatRate(58.34)).toBe("58.3 tok/s");
    expect(formatRate(412.7)).toBe("413 tok/s");
    expect(formatParameters(134_515_008)).toBe("135M");
    expect(formatParameters(4_022_468_096)).toBe("4.0B");
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
