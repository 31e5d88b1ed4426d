/** The models of the peer bench: where each is, and the token ids that it is given. */
import { readFileSync } from "node:fs";
import { createTokenizer } from "../../app/token/tokenizer.ts";
import { readVocabulary } from "../fixtures/gguf-vocabulary.ts";
import { gemma, syntheticModel } from "../fixtures/real-model.ts";
import { starterModel } from "../fixtures/starter-model.ts";
import { syntheticTokens } from "../fixtures/synthetic-moe.ts";

export interface BenchModel {
  name: string;
  title: string;
  path(): string;
  /** Of the mean KL divergence from the exact distributions, in nats. */
  mostKl: number;
  /** Prompt number `round` of `length` tokens: never the beginning of another, so that no engine can reuse what it computed before. */
  prompt(path: string, length: number, round: number): number[];
}

const corpus = readFileSync(new URL("../fixtures/corpus.txt", import.meta.url), "utf8");
const texts = new Map<string, number[]>();

function fromText(path: string, length: number, round: number): number[] {
  const text =
    texts.get(path) ?? createTokenizer(readVocabulary(path).vocabulary).encode([{ text: corpus, special: false }]);
  texts.set(path, text);
  return Array.from({ length }, (_, at) => text[(at + round * 97 + 1) % text.length] ?? 0);
}

export const models: readonly BenchModel[] = [
  { name: "smollm2", title: "SmolLM2-135M Q4_1", path: starterModel, mostKl: 1e-3, prompt: fromText },
  { name: "gemma3", title: "gemma3-270m Q4_K_M", path: gemma, mostKl: 1e-3, prompt: fromText },
  {
    name: "mini",
    title: "synth mini (qwen35moe)",
    path: () => syntheticModel("mini"),
    // Its random router often holds experts nearly equal, and the last bits then choose between them.
    mostKl: 1e-2,
    prompt: (_, length, round) => syntheticTokens(length, 32000, round),
  },
];
