// llama.cpp from source with our runner over it (test/peer/llama_peer.cpp), for the peer bench and the makers of goldens; never a part of the app.
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import { run } from "./command.mjs";
import { demand } from "./machine.mjs";
import { cache, root, windows } from "./place.mjs";
import { fingerprint, StepError, step } from "./step.mjs";
import { llamaFolder, llamaVersion, provideVectors } from "./vector.mjs";

const build = join(cache, "llama-build");
const output = ".cache/llama-build/halogen-llama-peer";
export const llamaPeer = join(root, output);

/** Throws StepError that names what is missing. */
export async function provideLlama() {
  if (windows) throw new StepError("the comparison with llama.cpp is set up for Linux and macOS only");
  await demand(["compiler", "cmake", "generator", "pip", "unpacker"]);
  await provideVectors();
  await step({
    name: "llama",
    // It is built for this very processor.
    key: () =>
      fingerprint(["test/peer/CMakeLists.txt", "test/peer/llama_peer.cpp"], {
        words: [llamaVersion, process.arch, cpus()[0]?.model ?? ""],
      }),
    outputs: [output],
    async make() {
      const log = "building-llama-cpp";
      const options = ["-S", "test/peer", "-B", build, "-DCMAKE_BUILD_TYPE=Release", `-DLLAMA_SOURCE=${llamaFolder}`];
      await run("Configuring llama.cpp", "cmake", options, { log });
      const words = ["--build", build, "--target", "halogen-llama-peer", "--parallel", String(availableParallelism())];
      await run("Building llama.cpp for comparison (some minutes)", "cmake", words, {
        log,
        hint: "The compiler's own message stands above (all of it: .cache/log/building-llama-cpp.log).",
      });
    },
  });
}
