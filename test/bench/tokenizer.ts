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

/** Milliseconds on the clock, and of processor time in all threads: on a busy machine the second says more. */
interface Time {
  clock: number;
  processor: number;
}

function timed(work: () => void): Time {
  const before = process.cpuUsage();
  const begun = performance.now();
  work();
  const clock = performance.now() - begun;
  const { user, system } = process.cpuUsage(before);
  return { clock, processor: (user + system) / 1000 };
}

/** The first one meets cold caches; the worst is what a user can feel. */
function worstOf(work: () => void): Time {
  const times = Array.from({ length: rounds }, () => timed(work));
  return { clock: Math.max(...times.map((t) => t.clock)), processor: Math.max(...times.map((t) => t.processor)) };
}

const shown = ({ clock, processor }: Time): string => `${Math.round(processor)} (${Math.round(clock)})`;
console.log(`Milliseconds of processor time (and on the clock), the worst of ${rounds}, for ${bytes / 1e6} MB a text`);

const report: { file: string; ready: Time; encode: Record<string, Time>; back: boolean }[] = [];
for (const file of files) {
  const { vocabulary } = readVocabulary(file);
  const composes = findPreTokenizer(vocabulary.pre)?.composes ?? false;
  let tokenizer = createTokenizer(vocabulary);
  const ready = worstOf(() => {
    tokenizer = createTokenizer(vocabulary);
  });
  const encode: Record<string, Time> = {};
  let back = true;
  for (const { name, text } of texts) {
    let ids: number[] = [];
    encode[name] = worstOf(() => {
      ids = tokenizer.encode([{ text, special: false }]);
    });
    const lossy = vocabulary.model === "bert";
    if (!lossy && tokenizer.decode(ids) !== (composes ? toNormalForm(text, "NFC") : text)) {
      back = false;
      console.log(`  ${basename(file)}: ${name} does not come back from its ids`);
    }
  }
  report.push({ file: basename(file), ready, encode, back });
  const worst = Object.entries(encode).sort(([, a], [, b]) => b.processor - a.processor);
  const list = worst
    .filter(([name], place) => place < 3 || name === "prose")
    .map(([name, time]) => `${name} ${shown(time)}`);
  console.log(
    `${basename(file).padEnd(34)} ready ${shown(ready)}; slowest of ${worst.length} texts: ${list.join(", ")}`,
  );
}
process.exitCode = report.every(({ back }) => back) ? 0 : 1;
writeReport(values.json, { machine: describeMachine(), bytes, rounds, tokenizers: report });
