/** The masks of one loaded model: made in threads of their own, so that the engine's goes on meanwhile. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Vocabulary } from "../../app/engine.ts";
import type { GrammarRequest } from "./compiler.ts";
import { createGrammarLane, type GrammarLane, type GrammarSession, type GrammarThread } from "./lane.ts";
import type { WorkerData } from "./message.ts";

declare const halogenBundled: boolean | undefined;

/** Sources above this do not share their thread with small ones, whose masks would wait. Characters. */
const largeSource = 20_000;
/** MiB; a grammar that needs more ends its thread, not the process. */
const mostMemory = 1024;

export interface GrammarService {
  /** Begins to make a thread ready, so that the first reply finds it so. */
  prepare(): void;
  /** Tokens that end a reply, for requests that name none. */
  endTokens(): Promise<readonly number[]>;
  open(request: GrammarRequest): GrammarSession;
  /** Replies under way end with request.cancelled. */
  close(): void;
}

export function createGrammarService(vocabulary: () => Promise<Vocabulary>): GrammarService {
  const spawn = async (): Promise<GrammarThread> => startThread({ vocabulary: await vocabulary() });
  const small = createGrammarLane(spawn);
  let large: GrammarLane | null = null;
  return {
    prepare: () => small.prepare(),
    endTokens: () => small.endTokens(),
    open(request) {
      if (request.source.source.length <= largeSource) return small.open(request);
      large ??= createGrammarLane(spawn);
      return large.open(request);
    },
    close() {
      small.close();
      large?.close();
    },
  };
}

export function startThread(workerData: WorkerData): GrammarThread {
  const options = { workerData, resourceLimits: { maxOldGenerationSizeMb: mostMemory } };
  // A bundle may lie in Electron's archive, which a new thread cannot read from.
  const worker =
    typeof halogenBundled === "undefined"
      ? new Worker(new URL("./worker.ts", import.meta.url), options)
      : new Worker(readFileSync(join(dirname(fileURLToPath(import.meta.url)), "grammar-worker.cjs"), "utf8"), {
          ...options,
          eval: true,
        });
  let fault: Error | null = null;
  worker.on("error", (error: Error) => {
    fault = error;
  });
  return {
    post: (message) => worker.postMessage(message),
    onMessage: (handler) => worker.on("message", handler),
    onGone: (handler) => worker.on("exit", () => handler(fault)),
    hold(held) {
      if (held) worker.ref();
      else worker.unref();
    },
    kill: () => void worker.terminate(),
  };
}
