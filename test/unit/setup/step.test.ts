/** Set-ups in one working tree take turns: two of them in one node_modules would spoil it. */
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { root } from "../../../setup/place.mjs";

/** Does each named step; a step's work takes a while and says in a common log when it begins and ends. */
const program = `
import { appendFileSync } from "node:fs";
import { alone, step } from "./setup/step.mjs";
const make = (name) => async () => {
  appendFileSync("log", "begin " + name + "\\n");
  await new Promise((resolve) => setTimeout(resolve, 60));
  appendFileSync("log", "end " + name + "\\n");
};
const [mode, ...names] = process.argv.slice(2);
const all = () => Promise.all(names.map((name) => step({ name, key: () => "1", make: make(name) })));
await (mode === "within" ? alone(all) : all());
`;

let tree = "";
beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), "step-"));
  mkdirSync(join(tree, "setup"));
  for (const file of ["step.mjs", "place.mjs"]) copyFileSync(join(root, "setup", file), join(tree, "setup", file));
  writeFileSync(join(tree, "program.mjs"), program);
});
afterEach(() => rmSync(tree, { recursive: true }));

const setUp = (...words: string[]) =>
  new Promise<number | null>((resolve) => {
    spawn(process.execPath, ["program.mjs", ...words], { cwd: tree, stdio: "ignore" }).on("close", resolve);
  });
const log = () => readFileSync(join(tree, "log"), "utf8").trim().split("\n");

describe("set-up steps of several processes", () => {
  test("are done one after another, and each once, also behind a set-up that was killed", async () => {
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    mkdirSync(join(tree, ".cache"));
    writeFileSync(join(tree, ".cache", "setup.lock"), String(pid));
    const names = ["a", "b", "c", "d", "a", "b"];
    const codes = await Promise.all(names.map((name) => setUp("single", name)));
    expect(codes).toEqual(names.map(() => 0));
    const lines = log();
    expect(lines.filter((line) => line.startsWith("begin")).sort()).toEqual([
      "begin a",
      "begin b",
      "begin c",
      "begin d",
    ]);
    for (let i = 0; i < lines.length; i += 2) expect(lines[i + 1]).toBe(lines[i]?.replace("begin", "end"));
    expect(existsSync(join(tree, ".cache", "setup.lock"))).toBe(false);
  });

  test("do not wait for the process they are part of", async () => {
    expect(await setUp("within", "a", "b")).toBe(0);
    expect(log().sort()).toEqual(["begin a", "begin b", "end a", "end b"]);
    expect(existsSync(join(tree, ".cache", "setup.lock"))).toBe(false);
  });
});
