/**
 * Three models through halogen-bench, through llama.cpp and (--ik) through ik_llama.cpp, all as native programs, side by side in one run: the same prompts,
 * threads, counts and types of keys and values, taking turns round by round. What a model gave is printed and written as soon as it is known. Started by
 * `npm run bench -- peer`.
 */
import { mkdirSync, rmSync } from "node:fs";
import os from "node:os";
import type { Asked } from "../peer/asked.ts";
import { agreement, leastSame, scored } from "./agreement.ts";
import { type Entrant, entrants, quickest, scratch, title } from "./entrant.ts";
import { describeMachine, describeModel } from "./environment.ts";
import { type BenchModel, models } from "./model.ts";
import { readOptions } from "./option.ts";
import { heat, interleave } from "./round.ts";
import {
  checkTable,
  footing,
  heading,
  type ModelReport,
  markdown,
  median,
  modelMarkdown,
  type Report,
  type Row,
  rowWords,
  summarise,
} from "./summary.ts";

const words = process.argv.slice(2);
const options = readOptions(words);
const all = entrants(options.threads, options.ik);
/** A short prompt, so that loading is what is timed. */
const firstPrompt = 16;
const perSecond = (tokens: number, milliseconds: number): number => (tokens * 1000) / milliseconds;

function row<T>(
  what: string,
  unit: string,
  found: ReadonlyMap<Entrant, T[]>,
  value: (one: T) => number,
  better: "more" | "less",
): Row {
  const numbers = new Map([...found].map(([entrant, values]) => [entrant, values.map(value)]));
  const made = summarise(what, unit, numbers, better === "more");
  process.stderr.write(`  ${rowWords(made)}\n`);
  return made;
}

/** Loading a file that is in the page cache, to the first token; each time in a new process. */
async function loading(model: BenchModel, path: string): Promise<Row[]> {
  const found = await interleave(all, {
    rounds: options.rounds,
    warmUp: true,
    async measure(entrant, round) {
      const asked = await entrant.open(path, 1024);
      const { prefillMilliseconds } = await asked.time(model.prompt(path, firstPrompt, round), 0);
      const resident = asked.resident();
      await asked.close();
      return { milliseconds: asked.introduction.loadMilliseconds + prefillMilliseconds, resident };
    },
  });
  return [
    row(`load to first token of ${firstPrompt}`, "ms", found, ({ milliseconds }) => milliseconds, "less"),
    row("resident after it", "MB", found, ({ resident }) => resident.all / 1e6, "less"),
    row("of that not the file", "MB", found, ({ resident }) => resident.own / 1e6, "less"),
  ];
}

interface Trial {
  model: BenchModel;
  path: string;
  asked: ReadonlyMap<Entrant, Asked>;
  one(entrant: Entrant): Asked;
}

/** Prefill and decode; the last round's tokens, for what they are worth. */
async function short({ model, path, one }: Trial) {
  const { decode, prefill, rounds } = options;
  const found = await interleave(all, {
    rounds,
    warmUp: true,
    measure: (entrant, round) => one(entrant).time(model.prompt(path, prefill, round), decode),
  });
  const rows = [
    row(
      `decode of ${decode} after ${prefill}`,
      "tokens/s",
      found,
      (run) => perSecond(decode, run.decodeMilliseconds),
      "more",
    ),
    row(`prefill of ${prefill}`, "tokens/s", found, (run) => perSecond(prefill, run.prefillMilliseconds), "more"),
  ];
  const ids = new Map([...found].map(([entrant, runs]) => [entrant, runs[rounds - 1]?.ids ?? []]));
  const time = (entrant: Entrant): number =>
    median((found.get(entrant) ?? []).map(({ prefillMilliseconds }) => prefillMilliseconds));
  return { rows, last: { prompt: model.prompt(path, prefill, rounds), ids }, goOn: quickest(all, time) };
}

/** A quarter of the prompt first: what a setting loses by then it does not win back, and the whole takes a slow one minutes. */
async function long({ model, path, one }: Trial, running: readonly Entrant[], tokens: number) {
  const quarter = Math.ceil(tokens / 4);
  const time = (entrant: Entrant, length: number, round: number) =>
    one(entrant).time(model.prompt(path, length, round), 0);
  const tried = await interleave(running, {
    rounds: 1,
    warmUp: false,
    measure: async (entrant) => (await time(entrant, quarter, 99)).prefillMilliseconds,
  });
  const { stay, out } = heat(new Map([...tried].map(([entrant, [value = Number.NaN]]) => [entrant, value])));
  const found = await interleave(stay, {
    rounds: options.longRounds,
    warmUp: false,
    measure: (entrant, round) => time(entrant, tokens, 100 + round),
  });
  const notes = out.map(
    ({ entrant, slower }) =>
      `${title(entrant)}: not run on ${tokens} tokens, since ${quarter} took it ${slower.toFixed(2)} x the time of its engine's other setting.`,
  );
  const made = row(
    `prefill of ${tokens}`,
    "tokens/s",
    found,
    (run) => perSecond(tokens, run.prefillMilliseconds),
    "more",
  );
  return { made, notes };
}

/** Fills `made` part by part and calls `save` after each. */
async function measure(model: BenchModel, made: ModelReport, save: (asked: Trial["asked"]) => void): Promise<void> {
  const path = model.path();
  const begun = Date.now();
  const part = (asked: Trial["asked"]): void => {
    made.load.push(os.loadavg()[0] ?? 0);
    made.seconds = (Date.now() - begun) / 1000;
    save(asked);
  };
  process.stderr.write(`${model.title}\n`);
  const loaded = await loading(model, path);

  const wish = Math.max(options.long, options.prefill + options.decode, scored.from + scored.rows) + 64;
  const first = await all[0]?.open(path, 256);
  await first?.close();
  const trained = first?.introduction.trainedContext ?? wish;
  const context = Math.min(wish, trained);
  const tokens = Math.min(options.long, context - 64);
  if (tokens < options.long) made.notes.push(`Its context ends at ${trained}: the long prefill has ${tokens} tokens.`);

  const asked = new Map<Entrant, Asked>();
  for (const entrant of all) asked.set(entrant, await entrant.open(path, context));
  const one = (entrant: Entrant): Asked => {
    const found = asked.get(entrant);
    if (found === undefined) throw new Error(`${title(entrant)} is not open`);
    return found;
  };
  const trial = { model, path, asked, one };
  const { rows, last, goOn } = await short(trial);
  made.rows.push(...rows, ...loaded);
  part(asked);
  // Before the long prefill: a run that is cut there has the quality of what it timed.
  made.check = await agreement(model, path, options.threads, asked, last);
  process.stderr.write(`${checkTable(made.check)}\n`);
  part(asked);
  const far = await long(trial, goOn, tokens);
  made.rows.splice(2, 0, far.made);
  made.notes.push(...far.notes);
  for (const each of asked.values()) await each.close();
  made.finished = true;
  part(asked);
}

const chosen = models.filter(({ name }) => options.only.length === 0 || options.only.includes(name));
if (chosen.length < Math.max(1, options.only.length)) {
  throw new Error(`models are ${models.map(({ name }) => name).join(", ")}, not ${options.only.join(", ")}`);
}
rmSync(scratch, { recursive: true, force: true });
mkdirSync(scratch, { recursive: true });
const report: Report = {
  what: "peer",
  at: new Date().toISOString(),
  command: ["npm run bench -- peer", ...words].join(" "),
  machine: describeMachine(),
  engines: {},
  kernels: {},
  kv: "",
  threads: options.threads,
  limits: { mostKl: Object.fromEntries(chosen.map(({ name, mostKl }) => [name, mostKl])), leastSame },
  models: [],
};

function save(asked: ReadonlyMap<Entrant, Asked>): void {
  for (const [entrant, { introduction }] of asked) {
    report.engines[entrant.engine] = introduction.version;
    report.kernels[title(entrant)] = introduction.kernels;
  }
  const types = new Map([...asked].map(([{ engine }, { introduction }]) => [introduction.kv, engine]));
  report.kv = `keys and values ${[...types.keys()].join(", ")}`;
  if (types.size !== 1) throw new Error(`${report.kv}: they are not the same everywhere`);
  options.write(report, markdown(report));
}

for (const model of chosen) {
  const made: ModelReport = {
    title: model.title,
    ...describeModel(model.path()),
    rows: [],
    notes: [],
    check: null,
    load: [os.loadavg()[0] ?? 0],
    seconds: 0,
    finished: false,
  };
  report.models.push(made);
  await measure(model, made, save);
  if (report.models.length === 1) process.stdout.write(`${heading(report)}\n\n`);
  process.stdout.write(`${modelMarkdown(made)}\n\n`);
}
process.stdout.write(`${footing(report)}\n`);
rmSync(scratch, { recursive: true, force: true });
process.exitCode = report.models.every(({ check }) => check?.passed === true) ? 0 : 1;
