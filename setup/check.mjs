// `npm run check`: types of each layer, lint and format, and the architecture tests. `--fix` mends what the linter can mend.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { prepare } from "./build.mjs";
import { say } from "./command.mjs";
import { providePeer } from "./peer.mjs";
import { bin, isProgram, pathWithNode, root } from "./place.mjs";
import { explain } from "./step.mjs";

const layers = ["app", "main", "main/electron", "renderer", "test"];

/** Each check's name and command. The architecture is left out where the unit tests run anyway. */
function checks({ fix, architecture }) {
  const lint = ["check", ...(fix ? ["--write"] : []), "--error-on-warnings", "."];
  return [
    ...layers.map((layer) => [`types of ${layer}`, "tsc", ["-p", layer]]),
    ["lint and format", "biome", lint],
    ...(architecture ? [["architecture", "vitest", ["run", "--project", "unit", "test/unit/arch"]]] : []),
  ];
}

/** Returns how many passed and failed; says each, and what a failed one says. */
export function runChecks(options) {
  const count = { passed: 0, failed: 0 };
  for (const [name, program, args] of checks(options)) {
    const begun = Date.now();
    const run = spawnSync(join(bin, program), args, { cwd: root, env: pathWithNode(), encoding: "utf8" });
    const ok = run.status === 0;
    count[ok ? "passed" : "failed"] += 1;
    console.log(`${ok ? "ok    " : "FAILED"} ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
    if (!ok) console.log(`${run.stdout ?? ""}${run.stderr ?? ""}${run.error ? run.error.message : ""}`.trimEnd());
  }
  return count;
}

/** The tests' types name the peer's package; without it their types cannot be checked. */
export async function provideTypes() {
  if (!existsSync(join(root, "test", "peer", "node_modules", "node-llama-cpp"))) await providePeer();
}

if (isProgram(import.meta.url)) {
  try {
    await prepare();
    await provideTypes();
    const { failed } = runChecks({ fix: process.argv.includes("--fix"), architecture: true });
    process.exitCode = failed > 0 ? 1 : 0;
  } catch (error) {
    say(explain(error));
    process.exitCode = 1;
  }
}
