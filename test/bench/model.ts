/** The models of the peer bench: where each is, and the token ids that it is given. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createTokenizer } from "../../app/token/tokenizer.ts";
import { readVocabulary } from "../fixtures/gguf-vocabulary.ts";
import { gemma } from "../fixtures/real-model.ts";
import { starterModel } from "../fixtures/starter-model.ts";
import { syntheticMoe, syntheticTokens } from "../fixtures/synthetic-moe.ts";

export interface BenchModel {
  name: string;
  title: string;
  path(): string;
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

/** Made once and kept: the same bytes on every machine, but two seconds of work. */
export function syntheticModel(name: "mini" | "tiny"): string {
  const folder = resolve(import.meta.dirname, "../../.cache/synthetic");
  const path = join(folder, `qwen35moe-${name}.gguf`);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${path}.${process.pid}`, syntheticMoe(name));
    renameSync(`${path}.${process.pid}`, path);
  }
  return path;
}

export const models: readonly BenchModel[] = [
  { name: "smollm2", title: "SmolLM2-135M Q4_1", path: starterModel, prompt: fromText },
  { name: "gemma3", title: "gemma3-270m Q4_K_M", path: gemma, prompt: fromText },
  {
    name: "mini",
    title: "synth mini (qwen35moe)",
    path: () => syntheticModel("mini"),
    prompt: (_, length, round) => syntheticTokens(length, 32000, round),
  },
];
