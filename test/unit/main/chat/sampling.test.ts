import { describe, expect, it, test } from "vitest";
import { noSampling, ourSampling, usualBreakers } from "../../../../app/contract/session.ts";
import { samplerNames } from "../../../../app/engine.ts";
import { createTokenizer } from "../../../../app/token/tokenizer.ts";
import { breakerSequences } from "../../../../main/chat/breaker.ts";
import { samplingOf } from "../../../../main/chat/sampling.ts";
import { byteVocabulary, firstPiece, pieceVocabulary } from "../../app/token/vocabulary.ts";
import { harness, shown } from "./harness.ts";

const tokenizer = createTokenizer(byteVocabulary());

describe("sampling", () => {
  it("is the model's where the chat says nothing, and the chat's where it does", () => {
    const model = { ...ourSampling, temperature: 0.6, repetitionPenalty: 1.1 };
    expect(samplingOf(noSampling, model, tokenizer)).toEqual({ ...model, seed: null });
    const chosen = { ...noSampling, temperature: 0, logitBias: [{ token: 3, bias: -2 }], suppress: [4], seed: 9 };
    expect(samplingOf(chosen, model, tokenizer)).toEqual({
      ...model,
      temperature: 0,
      logitBias: [{ token: 3, bias: -2 }],
      suppress: [4],
      seed: 9,
    });
  });

  it("adds up biases of one token, to no more than the engine takes", () => {
    const biases = (...each: number[]) =>
      samplingOf({ ...noSampling, logitBias: each.map((bias) => ({ token: 3, bias })) }, ourSampling, tokenizer)
        .logitBias;
    expect(biases(2, -5)).toEqual([{ token: 3, bias: -3 }]);
    expect(biases(9000, 9000)).toEqual([{ token: 3, bias: 10_000 }]);
    expect(biases(-9000, -9000)).toEqual([{ token: 3, bias: -10_000 }]);
  });

  it("never drops a chosen step because the model's order lacks it", () => {
    const model = { ...ourSampling, order: ["top_k" as const, "temperature" as const] };
    const order = (chosen: Partial<typeof noSampling>) =>
      samplingOf({ ...noSampling, ...chosen }, model, tokenizer).order;
    expect(order({})).toEqual(["top_k", "temperature"]);
    expect(order({ minP: 0.1, presencePenalty: 1 })).toEqual(["penalties", "top_k", "min_p", "temperature"]);
    // An order of the chat's own is meant as it is.
    expect(order({ minP: 0.1, order: ["top_p"] })).toEqual(["top_p"]);
    expect(samplingOf({ ...noSampling, xtcProbability: 1 }, ourSampling, tokenizer).order).toEqual([...samplerNames]);
  });

  it("looks for breakers only when DRY is on", () => {
    expect(samplingOf(noSampling, ourSampling, tokenizer).dryBreakers).toBeUndefined();
    const on = samplingOf({ ...noSampling, dryMultiplier: 0.8, dryBreakers: ["\n"] }, ourSampling, tokenizer);
    expect(on.dryBreakers).toBeInstanceOf(Int32Array);
  });

  it("ends a reply at the chat's own stop strings, which are never shown", async () => {
    const h = harness({ replies: [["one two END three"]] });
    const reply = await h.ask(h.session({ sampling: { stop: [" END"], minTokens: 2 } }), "x");
    expect(shown(reply).text).toBe("one two");
    expect(reply.status).toBe("complete");
    expect(h.engine.requests[0]).toMatchObject({ minTokens: 2 });
  });
});

/** Sequences as lists. */
function sequences(flat: Int32Array): number[][] {
  const lists: number[][] = [[]];
  for (const id of flat) {
    if (id === -1) lists.push([]);
    else lists[lists.length - 1]?.push(id);
  }
  return lists.slice(0, -1);
}

describe("DRY breakers", () => {
  test("each token that holds one breaks, and so does a run of tokens that make one", () => {
    // 256 bytes, 3 markup tokens, then the pieces.
    const made = createTokenizer(byteVocabulary(["ab", "xa", "abc", "bc"]));
    const id = (text: string): number => {
      const [only, more] = made.encode([{ text, special: false }]);
      expect(more).toBeUndefined();
      return only as number;
    };
    const found = sequences(breakerSequences(made, ["abc"]));
    const [a, b, c] = ["a", "b", "c"].map((text) => text.charCodeAt(0));
    expect(found).toContainEqual([id("abc")]);
    expect(found).toContainEqual([id("ab"), c]);
    expect(found).toContainEqual([a, id("bc")]);
    expect(found).toContainEqual([id("xa"), id("bc")]);
    expect(found.some(([first]) => first === b)).toBe(false);
    expect(found).toHaveLength(4);
  });

  test("a SentencePiece vocabulary puts no space into the rest of a run", () => {
    const made = createTokenizer(
      pieceVocabulary([
        ["▁a", -1],
        ["a", -2],
        ["b", -3],
        ["▁b", -4],
        ["▁", -5],
      ]),
    );
    const found = sequences(breakerSequences(made, ["ab"]));
    const byteOfA = 3 + "a".charCodeAt(0);
    expect(found).toEqual([
      [byteOfA, firstPiece + 2],
      [firstPiece, firstPiece + 2],
      [firstPiece + 1, firstPiece + 2],
    ]);
  });

  test("the usual ones are found in every byte vocabulary, and the work is done once", () => {
    const first = breakerSequences(tokenizer, usualBreakers);
    expect(sequences(first)).toEqual([...'\n"*:'].map((text) => [text.charCodeAt(0)]));
    expect(breakerSequences(tokenizer, [...usualBreakers])).toBe(first);
  });
});
