// `npm run bench -- <what> [options]`: sets up what a bench needs and runs it on Node 24.
//   peer   decode and prefill beside llama.cpp [--json FILE] [--threads N] [--rounds N] [--prefill N] [--decode N] [--model FILE]
import { join } from "node:path";
import { prepare } from "./build.mjs";
import { hand, say } from "./command.mjs";
import { ensureModel } from "./model.mjs";
import { providePeer } from "./peer.mjs";
import { cache, node24 } from "./place.mjs";
import { explain, StepError } from "./step.mjs";

const benches = { peer: { program: "test/bench/peer.ts", peer: true } };

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
  if (bench.peer) await providePeer();
  process.exitCode = await hand(node24, [bench.program, ...words]);
} catch (error) {
  say(explain(error));
  process.exitCode = 1;
}
