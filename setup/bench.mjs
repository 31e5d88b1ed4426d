// `npm run bench -- <what> [options]`: sets up what a bench needs and runs it on Node 24.
//   peer   decode and prefill beside llama.cpp, both as native programs [--only smollm2|gemma3|mini] [--json FILE] [--markdown FILE] [--threads N]
//          [--rounds N] [--long-rounds N] [--prefill N] [--long N] [--decode N]
import { join } from "node:path";
import { buildBench, prepare } from "./build.mjs";
import { hand, say } from "./command.mjs";
import { provideGemma } from "./gemma.mjs";
import { provideLlama } from "./llama.mjs";
import { ensureModel } from "./model.mjs";
import { cache, node24 } from "./place.mjs";
import { explain, StepError } from "./step.mjs";

const benches = { peer: { program: "test/bench/peer.ts", llama: true } };

try {
  const [what, ...words] = process.argv.slice(2);
  const bench = Object.hasOwn(benches, what ?? "") ? benches[what] : undefined;
  if (bench === undefined) {
    throw new StepError(what === undefined ? "no bench was named" : `there is no bench "${what}"`, {
      hint: `npm run bench -- ${Object.keys(benches).join(" | ")}`,
    });
  }
  await prepare();
  await ensureModel(join(cache, "model"));
  if (bench.llama) {
    await buildBench();
    await provideGemma();
    await provideLlama();
  }
  process.exitCode = await hand(node24, [bench.program, ...words]);
} catch (error) {
  say(explain(error));
  process.exitCode = 1;
}
