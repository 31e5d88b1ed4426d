import { describe, expect, test } from "vitest";
import { formatBytes, formatCount, formatParameters, formatShare } from "../../../app/number.ts";

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

  test("counts and parameters", () => {
    expect(formatCount(131_072)).toBe("131,072");
    expect(formatParameters(134_515_008)).toBe("135M");
    expect(formatParameters(4_022_468_096)).toBe("4.0B");
    expect(formatParameters(2048)).toBe("2,048");
  });
});
