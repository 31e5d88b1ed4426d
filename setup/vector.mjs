// llama.cpp's own test vectors (vocabularies with expected ids, chat templates): data of a source package, never compiled. Kept in .cache/llama-cpp.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "./command.mjs";
import { pip } from "./machine.mjs";
import { cache } from "./place.mjs";
import { StepError, step } from "./step.mjs";

const name = "llama_cpp_python";
const version = "0.3.36";
export const vectorFolder = join(cache, "llama-cpp", `${name}-${version}`);

export async function provideVectors() {
  await step({
    name: "vectors",
    key: () => version,
    outputs: [`.cache/llama-cpp/${name}-${version}/vendor/llama.cpp/models`],
    async make() {
      const python = pip();
      if (python === null) throw new StepError("there is no pip to fetch llama.cpp's test vectors with");
      const folder = join(cache, "llama-cpp");
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      const [file, ...args] = python;
      const words = ["download", "--no-deps", "--no-binary", name, "--dest", folder, `${name}==${version}`];
      await run("Fetching llama.cpp's test vectors (70 MB)", file, [...args, ...words], { timeout: 600_000 });
      const archive = readdirSync(folder).find((each) => each.endsWith(".tar.gz"));
      if (archive === undefined) throw new StepError("pip brought no source package");
      const member = `${name}-${version}/vendor/llama.cpp/models`;
      await run("Unpacking llama.cpp's test vectors", "tar", ["-xzf", archive, member], { cwd: folder });
      rmSync(join(folder, archive));
    },
  });
}
