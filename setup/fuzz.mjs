// `npm run fuzz -- <target> [--minutes N | --runs N] [--seed N]`: builds a fuzz target and runs it on its corpus; what it finds lands in .cache/fuzz/found.
//   gguf       a file's bytes through the engine, under the address and undefined-behaviour sanitizers (libFuzzer)
//   folder     the same with a folder of files: parts of a split GGUF, safetensors with their configuration
//   tokenizer  texts and vocabularies; template: templates, conversations and replies (Jazzer.js, which is libFuzzer too)
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { prepare } from "./build.mjs";
import { hand, run, say } from "./command.mjs";
import { jazzer, provideJazzer } from "./jazzer.mjs";
import { demand } from "./machine.mjs";
import { bin, cache, node24, root } from "./place.mjs";
import { alone, explain, StepError } from "./step.mjs";

const fuzz = join(cache, "fuzz");
/** Most bytes of an input, and seconds for one: what takes longer is a finding. A template may use up its own patience several times. */
const targets = {
  gguf: { length: 100_000, seconds: 10, native: true },
  folder: { length: 420_000, seconds: 10, native: true },
  tokenizer: { length: 4096, seconds: 10, native: false },
  template: { length: 8192, seconds: 30, native: false },
};
/** Megabytes that the process may hold, and that it may ask for at once. */
const limits = ["-rss_limit_mb=2048", "-malloc_limit_mb=1024"];

async function buildNative(target) {
  await demand(["cmake", "generator", "fuzzer"]);
  const build = join(root, "build", "fuzz");
  const options = [
    "-DCMAKE_BUILD_TYPE=Release",
    "-DCMAKE_CXX_COMPILER=clang++-19",
    "-DHALOGEN_SANITIZE=ON",
    "-DHALOGEN_FUZZ=ON",
  ];
  await run("Configuring the fuzz targets", "cmake", ["-S", root, "-B", build, ...options]);
  await run("Building the engine for fuzzing", "cmake", [
    "--build",
    build,
    "--target",
    `halogen-fuzz-${target}`,
    "--parallel",
    "2",
  ]);
  return { program: join(build, `halogen-fuzz-${target}`), words: [], env: {}, separator: [] };
}

async function buildScript(target) {
  const env = await provideJazzer();
  const bundle = join(fuzz, `${target}.cjs`);
  const words = [`test/fuzz/${target}-fuzz.ts`, "--bundle", "--platform=node", "--format=cjs", `--outfile=${bundle}`];
  await run("Bundling the fuzz target", join(bin, "esbuild"), words);
  return { program: node24, words: [jazzer, bundle, "--sync", "-i", bundle], env, separator: ["--"] };
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { minutes: { type: "string" }, runs: { type: "string" }, seed: { type: "string" } },
  });
  const [target = ""] = positionals;
  if (!Object.hasOwn(targets, target)) {
    throw new StepError(target === "" ? "no fuzz target was named" : `there is no fuzz target "${target}"`, {
      hint: `npm run fuzz -- ${Object.keys(targets).join(" | ")} --minutes 10`,
    });
  }
  const number = (word, otherwise) => {
    if (word === undefined) return otherwise;
    if (!(Number(word) > 0)) throw new StepError(`${word} is no number above zero`);
    return Number(word);
  };
  await prepare();
  // A counted run is the same each time: it begins with what is committed and with nothing that earlier runs found.
  const corpus = join(fuzz, values.runs === undefined ? `${target}-corpus` : `${target}-once`);
  if (values.runs !== undefined) rmSync(corpus, { recursive: true, force: true });
  const found = join(fuzz, "found");
  mkdirSync(corpus, { recursive: true });
  mkdirSync(found, { recursive: true });
  const seeds = join(fuzz, `${target}-seed`);
  rmSync(seeds, { recursive: true, force: true });
  await run("Making valid inputs to begin with", node24, ["test/fuzz/make-seed.ts", target, seeds]);
  const { program, words, env, separator } = await alone(() =>
    (targets[target].native ? buildNative : buildScript)(target),
  );
  const length =
    values.runs === undefined ? `-max_total_time=${60 * number(values.minutes, 10)}` : `-runs=${number(values.runs)}`;
  const options = [
    length,
    `-max_len=${targets[target].length}`,
    `-timeout=${targets[target].seconds}`,
    ...limits,
    `-artifact_prefix=${found}/${target}-`,
    `-seed=${number(values.seed, 1)}`,
    "-print_final_stats=1",
    "-verbosity=1",
  ];
  const kept = [join(root, "test", "fuzz", "corpus", target)].filter((path) => existsSync(path));
  const code = await hand(program, [...words, corpus, ...kept, seeds, ...separator, ...options], {
    env: { ...env, ASAN_OPTIONS: "allocator_may_return_null=1:detect_leaks=1", UBSAN_OPTIONS: "print_stacktrace=1" },
  });
  if (code !== 0)
    say(
      `Found: ${readdirSync(found)
        .map((name) => join(found, name))
        .join("\n  ")}`,
    );
  process.exitCode = code;
} catch (error) {
  say(explain(error));
  process.exitCode = 1;
}
