import { expect, test } from "vitest";
import { characters } from "../../../../app/grammar/expression.ts";
import { byteSequences } from "../../../../app/mask/byte-range.ts";

test("byte sequences are the UTF-8 of exactly these characters", () => {
  const cases: [number, number][][] = [
    [[0x80, 0x10ffff]],
    [[0xe9, 0xf1]],
    [
      [0x7f, 0x81],
      [0x7fe, 0x801],
      [0xfffd, 0x10001],
    ],
    [
      [0x20ac, 0x20ac],
      [0x1f600, 0x1f64f],
      [0x3041, 0x30ff],
    ],
    [
      [0x9fff, 0xa000],
      [0x3ffff, 0x40000],
      [0x10fff0, 0x10ffff],
    ],
  ];
  for (const ranges of cases) {
    const wanted = characters(...ranges);
    if (wanted.kind !== "class") throw new Error("no class");
    const sequences = byteSequences(wanted.ranges);
    const matches = (bytes: Buffer): number =>
      sequences.filter(
        (sequence) =>
          sequence.length === bytes.length &&
          sequence.every(([from, to], at) => (bytes[at] ?? 0) >= from && (bytes[at] ?? 0) <= to),
      ).length;
    for (let point = 0; point <= 0x10ffff; point += point < 0x3000 || point > 0x10ff00 ? 1 : 37) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const inside = ranges.some(([from, to]) => from <= point && point <= to) ? 1 : 0;
      const found = matches(Buffer.from(String.fromCodePoint(point)));
      if (found !== inside) throw new Error(`U+${point.toString(16)}: ${found} sequences, expected ${inside}`);
    }
    // No byte sequence of a surrogate is allowed.
    expect(matches(Buffer.from([0xed, 0xa0, 0x80]))).toBe(0);
  }
});
