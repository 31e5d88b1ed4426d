/** The built command line with the real engine, a model that thinks, and a format: what it writes on standard output fits. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTokenizer } from "../../app/token/tokenizer.ts";
import { createNativeEngine } from "../../native/index.ts";
import { copyWithTemplate } from "../fixtures/patched-template.ts";
import { makeAppFolder, removeAppFolder } from "../fixtures/served-app.ts";
import { starterModel } from "../fixtures/starter-model.ts";

const program = resolve(import.meta.dirname, "../../dist/main/cli.cjs");
let folder: string;
let model: string;
let schema: string;
/** Makes the starter, which knows no thoughts, end one at once: each token of the marker is the likeliest until it has come. */
let ending: string[] = [];

const template = [
  "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n",
  "{% if enable_thinking %}<think>\n{% else %}<think>\n\n</think>\n\n{% endif %}",
].join("");

beforeAll(async () => {
  folder = makeAppFolder();
  model = join(folder, "thinker.gguf");
  copyWithTemplate(starterModel(), model, template);
  schema = join(folder, "schema.json");
  const properties = { fruit: { enum: ["apple", "pear"] }, count: { type: "integer", minimum: 1, maximum: 9 } };
  writeFileSync(schema, JSON.stringify({ type: "object", properties, required: ["fruit", "count"] }));
  const engine = createNativeEngine();
  const tokenizer = createTokenizer(await engine.vocabulary(model));
  await engine.close();
  const marker = tokenizer.encode([{ text: "</think>", special: true }]);
  ending = ["--repeat-penalty", "10", "--repeat-last-n", "2"];
  marker.forEach((id, index) => {
    ending.push("--logit-bias", `${id}=${800 - 200 * index}`);
  });
});
afterAll(() => removeAppFolder(folder));

function halogen(...args: string[]) {
  const env = { ...process.env, HALOGEN_DATA: folder };
  const all = ["run", "--model", model, "--greedy", "--json-schema", schema, ...args, "How many?"];
  return spawnSync(process.execPath, [program, ...all], { env, encoding: "utf8" });
}

describe("halogen run --json-schema", () => {
  test.each(["on", "off"])("with thinking %s", (thinking) => {
    const run = halogen("--thinking", thinking, "--max-tokens", "200", ...(thinking === "on" ? ending : []));
    expect(run.status, run.stderr).toBe(0);
    expect(JSON.parse(run.stdout)).toEqual({
      fruit: expect.stringMatching(/^(apple|pear)$/),
      count: expect.any(Number),
    });
  });

  test("says so where the thought never ends", () => {
    const run = halogen("--thinking", "on", "--max-tokens", "12");
    expect([run.status, run.stdout]).toEqual([1, ""]);
    expect(run.stderr).toMatch(/still thinking: the answer never began \[grammar\.unreached\]\n/);
  });
});
