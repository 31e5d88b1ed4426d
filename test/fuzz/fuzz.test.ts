/** A short run of each fuzz target, with a fixed seed, on the kept inputs and from there on. `npm run fuzz -- <target> --minutes 10` searches longer. */
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const targets = [
  { name: "gguf", runs: 3000 },
  { name: "folder", runs: 1500 },
  { name: "tokenizer", runs: 20_000 },
  { name: "template", runs: 2000 },
];

const folder = mkdtempSync(join(tmpdir(), "halogen-fuzz-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(targets)("$name", ({ name, runs }) => {
  it(`stands ${runs} inputs`, () => {
    const words = [join(root, "setup", "fuzz.mjs"), name, "--runs", String(runs), "--seed", "1"];
    const log = join(folder, `${name}.log`);
    // Into a file: Node makes a pipe non-blocking, and what libFuzzer then prints into a full one is lost.
    const file = openSync(log, "w");
    const run = spawnSync(process.execPath, words, { cwd: root, stdio: ["ignore", file, file] });
    closeSync(file);
    const said = readFileSync(log, "utf8");
    expect(run.status, said.slice(-4000)).toBe(0);
    const done = Number(/number_of_executed_units:\s*(\d+)/.exec(said)?.[1] ?? 0);
    expect(done, said.slice(-4000)).toBeGreaterThanOrEqual(runs);
  });

  it("has kept inputs", () => {
    expect(readdirSync(join(root, "test", "fuzz", "corpus", name)).length).toBeGreaterThan(10);
  });
});
