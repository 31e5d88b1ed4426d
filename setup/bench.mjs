// `npm run bench -- <what> [options]`: sets up what a bench needs and runs it on Node 24.
//   peer   decode and prefill beside llama.cpp, all as native programs [--only smollm2|gemma3|mini] [--json FILE] [--markdown FILE] [--threads N]
//         [--rounds N] [--long-rounds N] [--prefill N] [--long N] [--decode N] [--ik FOLDER: beside ik_llama.cpp too, from its sources there]
//   tokenizer  every kind over a megabyte of many texts [--json FILE] [--size KB] [--rounds N] [--only PART-OF-FILE] [--text PART-OF-NAME]
//   kv     what each type of keys and values costs against F32 [--write] [--model FILE] [--threads N]
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildBench, prepare } from "./build.mjs";
import { hand, say } from "./command.mjs";
import { provideGemma } from "./gemma.mjs";
import { provideIk, provideLlama } from "./llama.mjs";
import { ensureModel } from "./model.mjs";
import { cache, node24 } from "./place.mjs";
import { explain, StepError } from "./step.mjs";
import { provideVectors, vectorFolder } from "./vector.mjs";

const benches = {
  peer: { program: "test/bench/peer.ts", llama: true },
  tokenizer: { program: "test/bench/tokenizer.ts", vectors: true },
  kv: { program: "test/bench/kv.ts", addon: true },
};

try {
  const [what, ...words] = process.argv.slice(2);
  const bench = Object.hasOwn(benches, what ?? "") ? benches[what] : undefined;
  if (bench === undefined) {
    throw new StepError(what === undefined ? "no bench was named" : `there is no bench "${what}"`, {
      hint: `npm run bench -- ${Object.keys(benches).join(" | ")}`,
    });
  }
  if (bench.llama || bench.addon) await prepare();
  await ensureModel(join(cache, "model"));
  if (bench.llama) {
    await buildBench();
    await provideGemma();
    await provideLlama();
    const { ik } = parseArgs({ args: words, options: { ik: { type: "string" } }, strict: false }).values;
    if (ik === true) throw new StepError("--ik needs the folder of ik_llama.cpp's sources");
    if (ik !== undefined) await provideIk(resolve(process.env.INIT_CWD ?? ".", ik));
  }
  if (bench.vectors) await provideVectors();
  const env = bench.vectors ? { HALOGEN_LLAMA_CPP_PACKAGE: vectorFolder } : {};
  process.exitCode = await hand(node24, [bench.program, ...words], { env });
} catch (error) {
  say(explain(error));
  process.exitCode = 1;
}
