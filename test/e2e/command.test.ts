/** The built command line with the real engine: one greedy answer, word for word, and a session only where one is asked for. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeAppFolder, removeAppFolder } from "../fixtures/served-app.ts";

const program = resolve(import.meta.dirname, "../../dist/main/cli.cjs");
let folder: string;

beforeAll(() => {
  folder = makeAppFolder();
});
afterAll(() => removeAppFolder(folder));

function halogen(...args: string[]) {
  const env = { ...process.env, HALOGEN_DATA: folder };
  return spawnSync(process.execPath, [program, ...args], { env, encoding: "utf8" });
}

test("a greedy answer is the model's own", () => {
  const run = halogen("run", "--greedy", "--max-tokens", "24", "List three fruits.");
  expect(run.status, run.stderr).toBe(0);
  // llama.cpp's answer on the same weights.
  expect(run.stdout).toMatch(/^Here are three fruits that are perfect for a healthy and balanced diet/);
});

test("the same seed gives the same words, and another seed others", () => {
  const answer = (seed: string) =>
    halogen("run", "--seed", seed, "--temperature", "1", "--max-tokens", "24", "Tell me a story.").stdout;
  const first = answer("7");
  expect(first.length).toBeGreaterThan(20);
  expect(answer("7")).toBe(first);
  expect(answer("8")).not.toBe(first);
});
