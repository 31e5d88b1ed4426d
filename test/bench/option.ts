/** The words after `npm run bench -- peer`. */
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

/** npm starts scripts in the package's folder; a relative path means the folder the user was in. */
const here = process.env.INIT_CWD ?? process.cwd();

export interface BenchOptions {
  /** Names of models; empty: all. */
  only: string[];
  /** Whether ik_llama.cpp runs too: setup/bench.mjs has built it from the folder of --ik. */
  ik: boolean;
  threads: number;
  rounds: number;
  longRounds: number;
  prefill: number;
  long: number;
  decode: number;
  /** The report into the files of --json and --markdown, if they were named. */
  write(report: object, markdown: string): void;
}

export function readOptions(words: string[]): BenchOptions {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: words,
    options: {
      json: text,
      markdown: text,
      only: { type: "string", multiple: true },
      ik: text,
      threads: text,
      rounds: text,
      "long-rounds": text,
      prefill: text,
      long: text,
      decode: text,
    },
  });
  const whole = (
    key: "threads" | "rounds" | "long-rounds" | "prefill" | "long" | "decode",
    otherwise: number,
  ): number => {
    const word = values[key];
    if (word === undefined) return otherwise;
    const value = Number(word);
    if (!Number.isInteger(value) || value < 1) throw new Error(`--${key} ${word} is no whole number above zero`);
    return value;
  };
  const { json, markdown } = values;
  return {
    only: values.only ?? [],
    ik: values.ik !== undefined,
    threads: whole("threads", Math.max(1, availableParallelism())),
    rounds: whole("rounds", 5),
    longRounds: whole("long-rounds", 1),
    prefill: whole("prefill", 512),
    long: whole("long", 8192),
    decode: whole("decode", 128),
    write(report, table) {
      writeReport(json, report);
      if (markdown !== undefined) writeFileSync(resolve(here, markdown), `${table}\n`);
    },
  };
}

/** Into `file`, if one was named. */
export function writeReport(file: string | undefined, report: object): void {
  if (file !== undefined) writeFileSync(resolve(here, file), `${JSON.stringify(report, null, 2)}\n`);
}
