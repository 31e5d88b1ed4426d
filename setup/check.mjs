// `npm run check`: types of each layer, lint and format, and the architecture tests. Ends with exit code 1 when any of them fails.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathWithNode, root } from "./place.mjs";

const layers = ["app", "main", "main/electron", "renderer", "test"];
const bin = join(root, "node_modules", ".bin");
const fix = process.argv.includes("--fix");

/** @type {[string, string[]][]} */
const commands = [];
for (const layer of layers) {
  if (existsSync(join(root, layer, "tsconfig.json"))) {
    commands.push([`types of ${layer}`, [join(bin, "tsc"), "-p", layer]]);
  }
}
commands.push([
  "lint and format",
  [join(bin, "biome"), "check", ...(fix ? ["--write"] : []), "--error-on-warnings", "."],
]);
commands.push(["architecture", [join(bin, "vitest"), "run", "--project", "unit", "test/unit/arch"]]);

let failed = 0;
for (const [name, [file, ...args]] of commands) {
  const begun = Date.now();
  const run = spawnSync(file, args, { cwd: root, env: pathWithNode(), encoding: "utf8" });
  const ok = run.status === 0;
  if (!ok) failed += 1;
  console.log(`${ok ? "ok    " : "FAILED"} ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
  if (!ok) console.log(`${run.stdout ?? ""}${run.stderr ?? ""}${run.error ? run.error.message : ""}`.trimEnd());
}
process.exitCode = failed > 0 ? 1 : 0;
