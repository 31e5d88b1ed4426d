/**
 * How long each kind of tokenizer takes to get ready and to encode a megabyte of prose, and of text made to hurt. Started by
 * `npm run bench -- tokenizer`. Beside each speed: whether the ids give the text back, which a tokenizer that cuts corners would not do.
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { toNormalForm } from "../../app/token/normal-form.ts";
import { findPreTokenizer } from "../../app/token/pre-tokenizer.ts";
import { createTokenizer } from "../../app/token/tokenizer.ts";
import { readVocabulary } from "../fixtures/gguf-vocabulary.ts";
import { starterModel } from "../fixtures/starter-model.ts";
import { textShapes } from "../fixtures/text-shape.ts";
import { describeMachine } from "./environment.ts";
import { writeReport } from "./option.ts";

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    /** Kilobytes of UTF-8 a text. */
    size: { type: "string", default: "1000" },
    only: { type: "string", default: "" },
    text: { type: "string", default: "" },
    rounds: { type: "string", default: "3" },
  },
});
const bytes = Number(values.size) * 1000;
const rounds = Number(values.rounds);
if (!(bytes >= 1000 && Number.isInteger(rounds) && rounds >= 1))
  throw new Error("--size and --rounds are whole numbers above zero");

const folder = join(process.env.HALOGEN_LLAMA_CPP_PACKAGE ?? "", "vendor/llama.cpp/models");
const files = [
  starterModel(),
  ...(existsSync(folder)
    ? readdirSync(folder)
        .filter((file) => /^ggml-vocab-.*\.gguf$/.test(file))
        .map((file) => join(folder, file))
    : []),
].filter((file) => file.includes(values.only) && existsSync(`${file}${file.includes("ggml-vocab") ? ".inp" : ""}`));

/** Whole characters of `text` that have at most that many bytes. */
function sized(make: (units: number) => string): string {
  const sample = make(3000);
  const perUnit = Buffer.byteLength(sample) / sample.length;
  return make(Math.floor(bytes / perUnit));
}

const texts = Object.entries(textShapes)
  .filter(([name]) => name.includes(values.text))
  .map(([name, make]) => ({ name, text: sized(make) }));

const report: { file: string; ready: number; encode: Record<string, number>; back: boolean }[] = [];
for (const file of files) {
  const { vocabulary } = readVocabulary(file);
  const composes = findPreTokenizer(vocabulary.pre)?.composes ?? false;
  const readies: number[] = [];
  let tokenizer = createTokenizer(vocabulary);
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now();
    tokenizer = createTokenizer(vocabulary);
    readies.push(performance.now() - begun);
  }
  const encode: Record<string, number> = {};
  let back = true;
  for (const { name, text } of texts) {
    const times: number[] = [];
    let ids: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const begun = performance.now();
      ids = tokenizer.encode([{ text, special: false }]);
      times.push(performance.now() - begun);
    }
    // The first one meets cold caches; the worst is what a user can feel.
    encode[name] = Math.max(...times);
    const lossy = vocabulary.model === "bert";
    if (!lossy && tokenizer.decode(ids) !== (composes ? toNormalForm(text, "NFC") : text)) {
      back = false;
      console.log(`  ${basename(file)}: ${name} does not come back from its ids`);
    }
  }
  const ready = readies.sort((a, b) => a - b)[rounds >> 1] ?? 0;
  report.push({ file: basename(file), ready, encode, back });
  const worst = Object.entries(encode).sort((a, b) => b[1] - a[1]);
  const list = (worst.length > 4 ? [...worst.slice(0, 4), ["prose", encode.prose ?? 0] as const] : worst).map(
    ([name, time]) => `${name} ${Math.round(time)}`,
  );
  console.log(
    `${basename(file).padEnd(34)} ready ${Math.round(ready)} ms; slowest of ${worst.length} texts, ms per ${bytes / 1e6} MB: ${list.join(", ")}`,
  );
}
writeReport(values.json, { machine: describeMachine(), bytes, rounds, tokenizers: report });
