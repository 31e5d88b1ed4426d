/** The words after `npm run bench -- <what>`. */
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { starterModel } from "../fixtures/starter-model.ts";

export interface BenchOptions {
  path: string;
  threads: number;
  rounds: number;
  prefill: number;
  decode: number;
  /** Into the file of --json, if there is one. */
  write(report: object): void;
}

export function readOptions(words: string[]): BenchOptions {
  const { values } = parseArgs({
    args: words,
    options: {
      json: { type: "string" },
      model: { type: "string" },
      threads: { type: "string" },
      rounds: { type: "string" },
      prefill: { type: "string" },
      decode: { type: "string" },
    },
  });
  const whole = (text: string | undefined, otherwise: number): number => {
    if (text === undefined) return otherwise;
    const value = Number(text);
    if (!Number.isInteger(value) || value < 1) throw new Error(`${text} is no whole number above zero`);
    return value;
  };
  const { json } = values;
  // npm starts scripts in the package's folder; a relative path means the folder the user was in.
  const here = process.env.INIT_CWD ?? process.cwd();
  return {
    path: values.model === undefined ? starterModel() : resolve(here, values.model),
    threads: whole(values.threads, Math.max(1, availableParallelism())),
    rounds: whole(values.rounds, 5),
    prefill: whole(values.prefill, 512),
    decode: whole(values.decode, 128),
    write(report) {
      if (json !== undefined) writeFileSync(resolve(here, json), `${JSON.stringify(report, null, 2)}\n`);
    },
  };
}
