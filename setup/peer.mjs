// llama.cpp for the peer tests and benches: node-llama-cpp with its CPU build only, in a package of its own, never a part of the app.
import { join } from "node:path";
import { npmInstall } from "./install.mjs";
import { root } from "./place.mjs";
import { fingerprint, StepError, step } from "./step.mjs";

const folder = join(root, "test", "peer");

export async function providePeer() {
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new StepError("its CPU build here is for Linux on x64");
  await step({
    name: "peer",
    key: () => fingerprint(["test/peer/package.json", "test/peer/package-lock.json"]),
    outputs: [
      "test/peer/node_modules/node-llama-cpp/package.json",
      "test/peer/node_modules/@node-llama-cpp/linux-x64/package.json",
    ],
    make: () => npmInstall("Installing llama.cpp for comparison", folder, ["--omit=optional"]),
  });
}
