/** A short run of each fuzz target, with a fixed seed, on the kept inputs and from there on. `npm run fuzz -- <target> --minutes 10` searches longer. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const targets = [
  { name: "gguf", runs: 3000 },
  { name: "folder", runs: 1500 },
  { name: "tokenizer", runs: 20_000 },
  { name: "template", runs: 2000 },
];

describe.each(targets)("$name", ({ name, runs }) => {
  it(`stands ${runs} inputs`, () => {
    const words = [join(root, "setup", "fuzz.mjs"), name, "--runs", String(runs), "--seed", "1"];
    const run = spawnSync(process.execPath, words, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
    const said = `${run.stdout}${run.stderr}`;
    expect(run.status, said.slice(-4000)).toBe(0);
    const done = Number(/number_of_executed_units:\s*(\d+)/.exec(said)?.[1] ?? 0);
    expect(done).toBeGreaterThanOrEqual(runs);
  });

  it("has kept inputs", () => {
    expect(readdirSync(join(root, "test", "fuzz", "corpus", name)).length).toBeGreaterThan(10);
  });
});
