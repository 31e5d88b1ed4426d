/** Pre-tokenizers against the same expressions run by another engine (see make_golden.py). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findPreTokenizer, splitPieces } from "../../../app/token/pre-tokenizer.ts";

const golden = JSON.parse(readFileSync(join(import.meta.dirname, "piece.json"), "utf8")) as {
  texts: string[];
  pieces: Record<string, string[][]>;
};

describe.each(Object.keys(golden.pieces))("pre-tokenizer %s", (name) => {
  it("cuts every text into the same pieces", () => {
    const expressions = findPreTokenizer(name)?.expressions ?? [];
    expect(expressions.length).toBeGreaterThan(0);
    golden.texts.forEach((text, index) => {
      const pieces: string[] = [];
      splitPieces(text, expressions, (part, start, end) => pieces.push(part.slice(start, end)));
      expect(pieces, JSON.stringify(text)).toEqual(golden.pieces[name]?.[index]);
    });
  });
});
