/**
 * Three models through halogen-bench and through llama.cpp, both as native programs, side by side in one run: the same prompts, threads and counts, taking
 * turns round by round. Started by `npm run bench -- peer`.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import os from "node:os";
import { join, resolve } from "node:path";
import { type Asked, ask, type Introduction } from "../peer/asked.ts";
import { distance, leastSame, passes } from "./agreement.ts";
import { describeMachine, describeModel } from "./environment.ts";
import { type BenchModel, models } from "./model.ts";
import { readOptions } from "./option.ts";
import { type ModelReport, markdown, type Row, summarise } from "./summary.ts";

const words = process.argv.slice(2);
const options = readOptions(words);
const root = resolve(import.meta.dirname, "../..");
const oursProgram = join(root, "build", "halogen-bench");
const theirsProgram = join(root, ".cache", "llama-build", "halogen-llama-peer");
const scratch = join(root, ".cache", "bench");

const ours = "Halogen";
const settings = new Map([
  ["flash attention", "on"],
  ["no flash attention", "off"],
]);
/** Of the text whose distributions are compared: what comes before the first, and how many. */
const scored = { from: 127, rows: 128 };
/** A short prompt, so that loading is what is timed. */
const firstPrompt = 16;

type Open = (context: number) => Promise<Asked>;

function engines(path: string): Map<string, Open> {
  const common = (context: number): string[] => ["--threads", String(options.threads), "--context", String(context)];
  return new Map<string, Open>([
    [ours, (context) => ask(oursProgram, [path, "--serve", ...common(context)], scratch)],
    ...[...settings].map(([name, flash]): [string, Open] => [
      name,
      (context) => ask(theirsProgram, [path, "--flash", flash, ...common(context)], scratch),
    ]),
  ]);
}

/** Calls `measure` for every engine once a round, each round beginning with another; the first round warms up and is not counted. */
async function interleave<T>(names: string[], rounds: number, measure: (name: string, round: number) => Promise<T>) {
  const found = new Map<string, T[]>(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(round + turn) % names.length] ?? "";
      const value = await measure(name, round);
      if (round > 0) found.get(name)?.push(value);
    }
  }
  return found;
}

function row<T>(what: string, unit: string, found: Map<string, T[]>, value: (one: T) => number, higher: boolean): Row {
  const theirs = [...found].filter(([name]) => name !== ours);
  const numbers = new Map(theirs.map(([name, values]) => [name, values.map(value)]));
  const made = summarise(what, unit, (found.get(ours) ?? []).map(value), numbers, higher);
  process.stderr.write(
    `  ${what}: ${made.ours.median} against ${made.theirs.median} ${unit} (${made.ratio.toFixed(2)} x)\n`,
  );
  return made;
}

/** Loading a file that is in the page cache, to the first token; each time in a new process. */
async function loading(model: BenchModel, path: string, opened: Map<string, Open>): Promise<Row[]> {
  const found = await interleave([...opened.keys()], options.rounds, async (name, round) => {
    const asked = await opened.get(name)?.(1024);
    if (asked === undefined) throw new Error(`no engine ${name}`);
    const { prefillMilliseconds } = await asked.time(model.prompt(path, firstPrompt, round), 0);
    const resident = asked.resident();
    await asked.close();
    return { milliseconds: asked.introduction.loadMilliseconds + prefillMilliseconds, resident };
  });
  return [
    row(`load to first token of ${firstPrompt}`, "ms", found, ({ milliseconds }) => milliseconds, false),
    row("resident after it", "MB", found, ({ resident }) => resident.all / 1e6, false),
    row("of that not the file", "MB", found, ({ resident }) => resident.own / 1e6, false),
  ];
}

async function agreement(model: BenchModel, path: string, asked: Map<string, Asked>): Promise<ModelReport["check"]> {
  const tokens = model.prompt(path, scored.from + scored.rows, 1000);
  const plain = join(scratch, "f32.gguf");
  execFileSync(theirsProgram, [path, "--dequantise", plain], { stdio: ["ignore", "ignore", "inherit"] });
  const exact = ["--threads", String(options.threads), "--context", "1024", "--flash", "off", "--kv", "f32"];
  const truthful = await ask(theirsProgram, [plain, ...exact], scratch);
  const truth = await truthful.score(tokens, scored.from);
  await truthful.close();
  rmSync(plain);
  const distances = new Map<string, ReturnType<typeof distance>>();
  for (const [name, one] of asked) {
    const rows = await one.score(tokens, scored.from);
    distances.set(name, distance(truth, rows));
    rmSync(rows.path);
  }
  rmSync(truth.path);
  const own = distances.get(ours);
  if (own === undefined) throw new Error("Halogen was not compared");
  distances.delete(ours);
  return { positions: truth.rows, ours: own, theirs: Object.fromEntries(distances), passed: passes(own, model.mostKl) };
}

async function measure(model: BenchModel): Promise<{ report: ModelReport; introductions: Map<string, Introduction> }> {
  const path = model.path();
  const before = os.loadavg()[0] ?? 0;
  process.stderr.write(`${model.title}\n`);
  const opened = engines(path);
  const names = [...opened.keys()];
  const rows = await loading(model, path, opened);

  const wish = Math.max(options.long, options.prefill + options.decode) + 64;
  const trained = (await introduce(opened)).trainedContext;
  const context = Math.min(wish, trained);
  const long = Math.min(options.long, context - 64);
  const notes = long < options.long ? [`Its context ends at ${trained}: the long prefill has ${long} tokens.`] : [];
  const asked = new Map<string, Asked>();
  for (const [name, open] of opened) asked.set(name, await open(context));
  const one = (name: string): Asked => asked.get(name) ?? fail(name);

  const short = await interleave(names, options.rounds, (name, round) =>
    one(name).time(model.prompt(path, options.prefill, round), options.decode),
  );
  const perSecond = (tokens: number, milliseconds: number): number => (tokens * 1000) / milliseconds;
  rows.unshift(
    row(
      `decode of ${options.decode} after ${options.prefill}`,
      "tokens/s",
      short,
      (run) => perSecond(options.decode, run.decodeMilliseconds),
      true,
    ),
    row(
      `prefill of ${options.prefill}`,
      "tokens/s",
      short,
      (run) => perSecond(options.prefill, run.prefillMilliseconds),
      true,
    ),
  );
  const far = await interleave(names, options.longRounds, (name, round) =>
    one(name).time(model.prompt(path, long, 100 + round), 0),
  );
  rows.splice(
    2,
    0,
    row(`prefill of ${long}`, "tokens/s", far, (run) => perSecond(long, run.prefillMilliseconds), true),
  );

  const check = await agreement(model, path, asked);
  const introductions = new Map([...asked].map(([name, { introduction }]) => [name, introduction]));
  for (const each of asked.values()) await each.close();
  const { file } = describeModel(path);
  return {
    report: { title: model.title, file, rows, notes, check, load: [before, os.loadavg()[0] ?? 0] },
    introductions,
  };
}

function fail(name: string): never {
  throw new Error(`no engine ${name}`);
}

async function introduce(opened: Map<string, Open>): Promise<Introduction> {
  const asked = (await opened.get(ours)?.(256)) ?? fail(ours);
  await asked.close();
  return asked.introduction;
}

const chosen = models.filter(({ name }) => options.only.length === 0 || options.only.includes(name));
if (chosen.length < Math.max(1, options.only.length)) {
  throw new Error(`models are ${models.map(({ name }) => name).join(", ")}, not ${options.only.join(", ")}`);
}
mkdirSync(scratch, { recursive: true });
const machine = describeMachine();
const reports: ModelReport[] = [];
let introductions = new Map<string, Introduction>();
for (const model of chosen) {
  const made = await measure(model);
  reports.push(made.report);
  introductions = made.introductions;
}
rmSync(scratch, { recursive: true, force: true });

const report = {
  what: "peer",
  at: new Date().toISOString(),
  command: ["npm run bench -- peer", ...words].join(" "),
  machine,
  engines: {
    ours: introductions.get(ours)?.version ?? "",
    theirs: introductions.get([...settings.keys()][0] ?? "")?.version ?? "",
  },
  kernels: Object.fromEntries([...introductions].map(([name, { kernels }]) => [name, kernels])),
  threads: options.threads,
  limits: { mostKl: Object.fromEntries(chosen.map(({ name, mostKl }) => [name, mostKl])), leastSame },
  sha256: Object.fromEntries(chosen.map((model) => [model.name, describeModel(model.path()).sha256])),
  models: reports,
};
const table = markdown(report);
process.stdout.write(`${table}\n`);
options.write(report, table);
process.exitCode = reports.every(({ check }) => check.passed) ? 0 : 1;
