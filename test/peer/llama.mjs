// llama.cpp through node-llama-cpp: the prebuilt CPU build of its package, nothing compiled and nothing downloaded.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { getLlama, LlamaLogLevel } from "node-llama-cpp";

const here = fileURLToPath(new URL("node_modules/node-llama-cpp/package.json", import.meta.url));

/** @param {string} path of the GGUF file. The caller closes it. */
export async function openPeer(path, { threads = 1 } = {}) {
  const llama = await getLlama({
    gpu: false,
    build: "never",
    skipDownload: true,
    logLevel: LlamaLogLevel.error,
    maxThreads: threads,
  });
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 });
  const { version } = JSON.parse(readFileSync(here, "utf8"));
  return {
    model,
    version: `node-llama-cpp ${version}, llama.cpp ${llama.llamaCppRelease.release}`,
    systemInfo: llama.systemInfo.trim(),
    close: () => llama.dispose(),
  };
}
