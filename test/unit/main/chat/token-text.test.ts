import { describe, expect, it } from "vitest";
import { createTokenizer } from "../../../../app/token/tokenizer.ts";
import { readableToken, tokensOf, tokensOfText } from "../../../../main/chat/token-text.ts";
import { byteVocabulary, firstPiece, pieceVocabulary } from "../../app/token/vocabulary.ts";
import { harness, modelId } from "./harness.ts";

const bytes = createTokenizer(byteVocabulary(["Hello", " ok"]));
const textOf = (ids: readonly number[]) => ids.map((id) => readableToken(bytes, id));

describe("a text", () => {
  it("stands for the tokens that print it, with the space it is written with", () => {
    expect(textOf(tokensOfText(bytes, "Hello"))).toEqual(["Hello"]);
    expect(textOf(tokensOfText(bytes, " ok"))).toEqual([" ok"]);
    expect(textOf(tokensOfText(bytes, "ok"))).toEqual(["o", "k"]);
    expect(textOf(tokensOfText(bytes, "Hello!"))).toEqual(["Hello", "!"]);
  });

  it("without a space is the piece without one, also where the tokenizer puts a space in front", () => {
    const pieces = createTokenizer(
      pieceVocabulary([
        ["▁a", -1],
        ["a", -2],
        ["▁", -3],
      ]),
    );
    expect(tokensOfText(pieces, "a")).toEqual([firstPiece + 1]);
    expect(tokensOfText(pieces, " a")).toEqual([firstPiece]);
  });

  it("that is the name of a control token stands for that one", () => {
    expect(tokensOfText(bytes, "<|im_end|>")).toEqual([bytes.specialId("<|im_end|>")]);
    expect(textOf(tokensOfText(bytes, "<|im_end|>"))).toEqual(["<|im_end|>"]);
    expect(tokensOfText(bytes, "<|im_end|>!").length).toBeGreaterThan(2);
  });

  it("names each of its tokens once, and a number beyond the vocabulary none", () => {
    expect(tokensOf(bytes, "aaa")).toHaveLength(1);
    expect([tokensOf(bytes, bytes.count - 1), tokensOf(bytes, bytes.count)]).toEqual([[bytes.count - 1], []]);
  });

  it("shows bytes that are no text by themselves", () => {
    expect(textOf(tokensOfText(bytes, "é"))).toEqual(["<0xC3>", "<0xA9>"]);
  });
});

describe("the call that reads tokens", () => {
  it("answers in the order of the choices, without loading the model", async () => {
    const h = harness();
    const read = h.chat.handlers["model.tokens"];
    const { count, choices } = await read({ modelId, choices: ["<|im_end|>", 33, 4_000_000, "ab"] });
    expect(count).toBeGreaterThan(256);
    expect(choices.map((tokens) => tokens.map(({ text }) => text))).toEqual([["<|im_end|>"], ["!"], [], ["a", "b"]]);
    expect(choices[1]).toEqual([{ id: 33, text: "!" }]);
    expect(h.leases.taken).toBe(0);
    await expect(read({ modelId: "gone", choices: [] })).rejects.toMatchObject({ code: "model.not_found" });
  });

  it("and the engine means the same tokens by a choice", async () => {
    const h = harness({ replies: [["x"]] });
    const [first, second] = (await h.chat.handlers["model.tokens"]({ modelId, choices: ["ab", "bc"] })).choices;
    const [a, b] = (first ?? []).map(({ id }) => id) as [number, number];
    const c = second?.[1]?.id as number;
    const logitBias = [
      { token: "ab", bias: 2 },
      { token: b, bias: -0.5 },
      { token: 4_000_000, bias: 9 },
    ];
    await h.ask(h.session({ sampling: { logitBias, suppress: ["bc", b, 4_000_000] } }), "x");
    expect(h.engine.requests[0]?.sampling).toMatchObject({
      logitBias: [
        { token: a, bias: 2 },
        { token: b, bias: 1.5 },
      ],
      suppress: [b, c],
    });
  });
});
