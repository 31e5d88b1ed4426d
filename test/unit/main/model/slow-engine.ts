import { dirname } from "node:path";
import type { Engine, LoadedModel, LoadOptions, MemoryPlan, ModelInspection } from "../../../../app/engine.ts";
import { HalogenError } from "../../../../app/error.ts";

export type LoadCall = {
  path: string;
  options: LoadOptions;
  progress: (done: number, total: number) => void;
  finish: () => void;
  fail: (error: HalogenError) => void;
};

/** An engine whose loads end when the test says so. */
export function createSlowEngine() {
  const log: string[] = [];
  const loads: LoadCall[] = [];
  const faults = new Map<string, HalogenError>();
  const changes = new Map<string, Partial<ModelInspection>>();
  const wakers: (() => void)[] = [];
  let handle = 0;
  const plan = (options: LoadOptions): MemoryPlan => ({
    contextLength: options.contextLength || 8192,
    kvType: options.kvType === "auto" ? "f16" : options.kvType,
    weights: 10,
    kv: 1,
    recurrent: 0,
    checkpoints: 0,
    scratch: 1,
    total: 12,
    available: 100,
    fits: true,
    reason: "",
  });
  const engine: Pick<Engine, "info" | "inspect" | "plan" | "load" | "unload" | "prepareGrammar"> = {
    info: async () => ({ version: "1", devices: [], chosen: "cpu", threads: 1, architectures: ["llama"], formats: [] }),
    async inspect(path) {
      const name = path.slice(dirname(path).length + 1);
      log.push(`inspect ${name}`);
      const fault = faults.get(name);
      if (fault !== undefined) throw fault;
      return {
        path,
        bytes: 10,
        architecture: "llama",
        supported: true,
        problem: "",
        name: "junk from training",
        sizeLabel: "",
        parameters: 135e6,
        format: "Q4_1",
        formats: {},
        contextLength: 8192,
        embeddingLength: 1,
        blockCount: 1,
        headCount: 1,
        vocabularySize: 1,
        template: "{{ x }}",
        metadata: {},
        ...changes.get(name),
      };
    },
    plan: async (options) => plan(options),
    async prepareGrammar(of) {
      log.push(`prepare ${of}`);
    },
    load(options, onProgress, signal) {
      const name = options.path.slice(dirname(options.path).length + 1);
      log.push(`load ${name}`);
      return new Promise<LoadedModel>((resolve, reject) => {
        signal?.addEventListener("abort", () => {
          log.push(`aborted ${name}`);
          reject(new HalogenError("request.cancelled", "cancelled"));
        });
        loads.push({
          path: options.path,
          options,
          progress: (done, total) => onProgress?.({ phase: "load", done, total }),
          finish: () => resolve({ handle: ++handle, backend: "cpu", plan: plan(options), loadMilliseconds: 1 }),
          fail: reject,
        });
        for (const wake of wakers.splice(0)) wake();
      });
    },
    async unload(which) {
      log.push(`unload ${which}`);
    },
  };
  /** The load number `index`, once the engine was asked for it. */
  async function load(index: number): Promise<LoadCall> {
    for (;;) {
      const found = loads[index];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => wakers.push(resolve));
    }
  }
  return { engine, log, loads, load, faults, changes };
}
