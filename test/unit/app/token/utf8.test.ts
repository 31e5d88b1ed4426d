import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createUtf8Decoder, decodeUtf8, encodeUtf8, utf8Length, wellFormed } from "../../../../app/token/utf8.ts";

const anyText = fc.string({ unit: "binary", maxLength: 60 });
const anyUnits = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((units) => String.fromCharCode(...units));
const brokenBytes = fc.array(
  fc.oneof(
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(0xf0, 0x9f, 0x91, 0x8b, 0xe0, 0xa0, 0x80, 0xed, 0xbf, 0xc0, 0xc2, 0xf4, 0x8f, 0x90, 0xff),
  ),
  { maxLength: 40 },
);

describe("encodeUtf8", () => {
  it("agrees with the platform for any string, lone surrogates included", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, anyUnits), (text) => {
        const bytes = encodeUtf8(text);
        expect(Buffer.from(bytes)).toEqual(Buffer.from(text, "utf8"));
        expect(utf8Length(text)).toBe(bytes.length);
      }),
    );
  });

  it("reads lone surrogates as U+FFFD and leaves pairs alone", () => {
    expect(wellFormed("a\uD83Db\uDE00c😀")).toBe("a\uFFFDb\uFFFDc😀");
  });
});

describe("the streaming decoder", () => {
  it("gives what a whole decode gives, wherever the stream is cut and whatever the bytes are", () => {
    fc.assert(
      fc.property(brokenBytes, fc.array(fc.nat(40), { maxLength: 6 }), (bytes, cuts) => {
        const all = Uint8Array.from(bytes);
        const decoder = createUtf8Decoder();
        let text = "";
        let at = 0;
        for (const cut of [...cuts].sort((a, b) => a - b)) {
          text += decoder.push(all.subarray(at, Math.max(at, cut)));
          at = Math.max(at, Math.min(cut, all.length));
        }
        text += decoder.push(all.subarray(at)) + decoder.flush();
        expect(text).toBe(new TextDecoder("utf-8", { ignoreBOM: true }).decode(all));
      }),
      { numRuns: 2000 },
    );
  });

  it("holds an unfinished character back and never shows half of it", () => {
    const decoder = createUtf8Decoder();
    expect(decoder.push(Uint8Array.of(0x61, 0xf0, 0x9f))).toBe("a");
    expect(decoder.push(Uint8Array.of(0x91))).toBe("");
    expect(decoder.push(Uint8Array.of(0x8b, 0x62))).toBe("👋b");
    expect(decoder.flush()).toBe("");
  });

  it("marks what never becomes a character, once, and goes on", () => {
    const decoder = createUtf8Decoder();
    expect(decoder.push(Uint8Array.of(0xff))).toBe("\uFFFD");
    expect(decoder.push(Uint8Array.of(0xc0, 0x80))).toBe("\uFFFD\uFFFD");
    expect(decoder.push(Uint8Array.of(0xe2, 0x96))).toBe("");
    expect(decoder.push(Uint8Array.of(0x41))).toBe("\uFFFDA");
    expect(decoder.push(Uint8Array.of(0xf0, 0x9f))).toBe("");
    expect(decoder.flush()).toBe("\uFFFD");
    expect(decoder.flush()).toBe("");
  });

  it("decodes more than one block of units", () => {
    const text = "ß😀x".repeat(5000);
    expect(decodeUtf8(encodeUtf8(text))).toBe(text);
  });
});
