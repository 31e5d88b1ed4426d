/** Tokenisation beside llama.cpp's, live: line by line and as a whole, text and with control tokens. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTokenizer, type Tokenizer } from "../../app/token/tokenizer.ts";
import { readVocabulary } from "../fixtures/gguf-vocabulary.ts";
import { starterModel } from "../fixtures/starter-model.ts";
import { openPeer, type Peer } from "./llama.ts";

const corpus = readFileSync(new URL("../fixtures/corpus.txt", import.meta.url), "utf8");
const texts = [...corpus.split("\n"), corpus, corpus.replaceAll("\n", "\r\n"), "", " ", "\n\n\n", "a".repeat(3000)];

let peer: Peer;
let tokenizer: Tokenizer;

beforeAll(async () => {
  peer = await openPeer(starterModel());
  tokenizer = createTokenizer(readVocabulary(starterModel()).vocabulary);
});
afterAll(() => peer?.close());

it.each([false, true])("equals llama.cpp's over the corpus, control tokens %s", (special) => {
  let tokens = 0;
  for (const text of texts) {
    const expected = [...peer.model.tokenize(text, special, "trimLeadingSpace")];
    const found = [...tokenizer.encode([{ text, special }])];
    expect(found, JSON.stringify(text.slice(0, 120))).toEqual(expected);
    tokens += found.length;
  }
  expect(tokens).toBeGreaterThan(3000);
});
