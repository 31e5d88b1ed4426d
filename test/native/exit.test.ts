/** A process or worker may end at any moment of the engine's work: it neither hangs nor crashes. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import type { Scene } from "../fixtures/addon-scene.ts";
import { starterModel } from "../fixtures/starter-model.ts";

const file = resolve(import.meta.dirname, "../fixtures/addon-scene.ts");

/** A limit against hanging, far above what an end takes. */
const hung = 30_000;

interface End {
  code: number | null;
  signal: string | null;
  /** The scene got to where it was to end. */
  reached: boolean;
}

async function expectEnd(scene: Scene, expected: End): Promise<void> {
  const child = fork(file, [scene, starterModel()], { execArgv: [], stdio: ["ignore", "inherit", "pipe", "ipc"] });
  let reached = false;
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  child.on("message", () => {
    reached = true;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), hung);
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  clearTimeout(timer);
  expect({ code, signal, reached }, said).toEqual(expected);
}

describe("process.exit", () => {
  test.each(["idle", "load", "prefill", "decode"] as const)("in %s ends with the code it was given", async (scene) => {
    await expectEnd(scene, { code: 7, signal: null, reached: true });
  });

  test("by an uncaught exception in a reply ends with its code", async () => {
    await expectEnd("throw", { code: 1, signal: null, reached: true });
  });

  test.each(["closed", "unclosed"] as const)(
    "is not needed: a process with nothing to do ends (engine %s)",
    async (scene) => {
      await expectEnd(scene, { code: 0, signal: null, reached: true });
    },
  );
});

describe("a worker thread", () => {
  test.each(["idle", "load", "prefill", "decode"] as const)("is terminated in %s, twice over", async (scene) => {
    for (let round = 0; round < 2; round++) {
      const worker = new Worker(file, { workerData: [scene, starterModel()] });
      await Promise.race([
        once(worker, "message"),
        once(worker, "error").then(([error]) => {
          throw error;
        }),
      ]);
      expect(await worker.terminate()).toBe(1);
    }
  });

  test("loads, replies, closes and ends, twice over and twice at once", async () => {
    const run = async (): Promise<unknown> => {
      const worker = new Worker(file, { workerData: ["closed", starterModel()] });
      const [code] = await once(worker, "exit");
      return code;
    };
    expect(await Promise.all([run(), run()])).toEqual([0, 0]);
    expect(await Promise.all([run(), run()])).toEqual([0, 0]);
  });
});
