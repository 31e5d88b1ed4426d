/** llama.cpp through node-llama-cpp: the prebuilt CPU build of its package, nothing compiled and nothing downloaded. */
import { readFileSync } from "node:fs";
import { getLlama, LlamaLogLevel, type LlamaModel } from "node-llama-cpp";

export interface Peer {
  model: LlamaModel;
  /** "node-llama-cpp 3.22.1, llama.cpp v0.5.0" */
  version: string;
  /** The instruction sets it uses, in its own words. */
  systemInfo: string;
  close(): Promise<void>;
}

/** `path` of the GGUF file. The caller closes it. */
export async function openPeer(path: string, { threads = 1, vocabOnly = false } = {}): Promise<Peer> {
  const llama = await getLlama({
    gpu: false,
    build: "never",
    skipDownload: true,
    // It looks for the weights of a vocabulary too, and complains that there are none.
    logLevel: vocabOnly ? LlamaLogLevel.fatal : LlamaLogLevel.error,
    maxThreads: threads,
  });
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0, vocabOnly });
  const packageFile = new URL("node_modules/node-llama-cpp/package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(packageFile, "utf8")) as { version: string };
  return {
    model,
    version: `node-llama-cpp ${version}, llama.cpp ${llama.llamaCppRelease.release}`,
    systemInfo: llama.systemInfo.trim(),
    close: () => llama.dispose(),
  };
}
