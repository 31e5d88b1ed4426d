// llama.cpp and ik_llama.cpp from source with our runner over them (test/peer/llama_peer.cpp), for the peer bench and the makers of goldens; never a part
// of the app.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join, relative } from "node:path";
import { run } from "./command.mjs";
import { demand } from "./machine.mjs";
import { cache, windows } from "./place.mjs";
import { fingerprint, StepError, step } from "./step.mjs";
import { llamaFolder, llamaVersion, provideVectors } from "./vector.mjs";

/** Throws StepError that names what is missing. */
export async function provideLlama() {
  await demandTools(["pip", "unpacker"]);
  await provideVectors();
  await build("llama", "llama.cpp", llamaFolder, llamaVersion);
}

/** `folder`: its sources, which are fetched by nothing here. Throws StepError that names what is missing. */
export async function provideIk(folder) {
  const parts = ["CMakeLists.txt", "cmake", "common", "ggml/include", "ggml/src", "include", "src", "vendor"];
  const missing = [...parts, "ggml/src/iqk"].filter((part) => !existsSync(join(folder, part)));
  if (missing.length > 0) {
    throw new StepError(`these are no sources of ik_llama.cpp: ${folder} (${missing.join(", ")} missing)`, {
      hint: "Give --ik the folder of a checkout of github.com/ikawrakow/ik_llama.cpp (MIT).",
    });
  }
  await demandTools([]);
  await build("ik", "ik_llama.cpp", folder, nameOf(folder, parts));
}

async function demandTools(more) {
  if (windows) throw new StepError("the comparison with llama.cpp is set up for Linux and macOS only");
  await demand(["compiler", "cmake", "generator", ...more]);
}

async function build(short, title, source, sourceName) {
  const folder = join(cache, `${short}-build`);
  const target = `halogen-${short}-peer`;
  await step({
    name: short,
    // It is built for this very processor.
    key: () =>
      fingerprint(["test/peer/CMakeLists.txt", ...readSources()], {
        words: [source, sourceName, process.arch, cpus()[0]?.model ?? ""],
      }),
    outputs: [`.cache/${short}-build/${target}`],
    async make() {
      const log = `building-${title.replace(".", "-")}`;
      const options = ["-S", "test/peer", "-B", folder, "-DCMAKE_BUILD_TYPE=Release"];
      const words = [...options, `-DLLAMA_SOURCE=${source}`, `-DLLAMA_SOURCE_NAME=${sourceName}`];
      await run(`Configuring ${title}`, "cmake", words, { log });
      const parallel = String(availableParallelism());
      await run(
        `Building ${title} for comparison (some minutes)`,
        "cmake",
        ["--build", folder, "--target", target, "--parallel", parallel],
        {
          log,
          hint: `The compiler's own message stands above (all of it: .cache/log/${log}.log).`,
        },
      );
    },
  });
}

const readSources = () =>
  readdirSync(new URL("../test/peer", import.meta.url))
    .filter((file) => /\.(cpp|h)$/.test(file))
    .map((file) => `test/peer/${file}`);

/** Its commit where it is a checkout of its own, else a hash of what is compiled: other sources are another peer. */
function nameOf(folder, parts) {
  if (existsSync(join(folder, ".git"))) {
    const { status, stdout } = spawnSync("git", ["-C", folder, "describe", "--always", "--dirty"], {
      encoding: "utf8",
    });
    if (status === 0) return stdout.trim();
  }
  const hash = createHash("sha256");
  for (const part of parts) {
    const whole = join(folder, part);
    const names = part === "CMakeLists.txt" ? [""] : readdirSync(whole, { recursive: true }).sort();
    for (const name of names) {
      if (name === "" || /\.(c|cpp|h|hpp|cmake|txt|in)$/.test(name)) {
        const file = name === "" ? whole : join(whole, name);
        hash.update(`${relative(folder, file)}\0`).update(readFileSync(file));
      }
    }
  }
  return `sources ${hash.digest("hex").slice(0, 12)}`;
}
