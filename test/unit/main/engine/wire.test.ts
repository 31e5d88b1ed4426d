/** Both ends of the port in one process, over a real structured-clone channel, so that the engine's counters can be seen. */
import { MessageChannel } from "node:worker_threads";
import { afterEach, describe, expect, test } from "vitest";
import type { EngineProgress, Generation } from "../../../../app/engine.ts";
import { HalogenError } from "../../../../app/error.ts";
import { createEngineClient, type EngineClient } from "../../../../main/engine/client.ts";
import { type EngineServer, serveEngine } from "../../../../main/engine/server.ts";
import { creditWindow, type ServerMessage } from "../../../../main/engine/wire.ts";
import { failure, readAll } from "../../../fixtures/engine-contract.ts";
import { until } from "../../../fixtures/engine-process.ts";
import { generateRequest, greedy, loadOptions } from "../../../fixtures/engine-request.ts";
import {
  createScriptedEngine,
  type ScriptedEngine,
  type ScriptedEngineOptions,
} from "../../../fixtures/scripted-engine.ts";
import type { Script } from "../../../fixtures/scripted-engine-script.ts";

interface Pair {
  client: EngineClient;
  server: EngineServer;
  engine: ScriptedEngine;
  handle: number;
  start(script: Script, onProgress?: (progress: EngineProgress) => void): Generation;
}

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

async function pair(options: ScriptedEngineOptions = {}): Promise<Pair> {
  const { port1, port2 } = new MessageChannel();
  opened.push(() => port1.close());
  const engine = createScriptedEngine(options);
  const server = serveEngine(engine, {
    post: (message) => port2.postMessage(message),
    onMessage: (handler) => port2.on("message", handler),
  });
  const client = createEngineClient({
    post: (message) => port1.postMessage(message),
    onMessage: (handler) => port1.on("message", handler),
  });
  port1.on("message", (message: ServerMessage) => client.receive(message));
  const { handle } = await client.load(loadOptions("/model.gguf"));
  return {
    client,
    server,
    engine,
    handle,
    start(script, onProgress) {
      engine.rescript(() => script);
      return client.generate(generateRequest(handle, Int32Array.of(1, 2, 3), { maxTokens: 0 }), onProgress);
    },
  };
}

/** Until nothing more is made although there is time for it. */
async function settled(engine: ScriptedEngine): Promise<number> {
  for (let before = -1; before !== engine.counters.produced; ) {
    before = engine.counters.produced;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return engine.counters.produced;
}

describe("back-pressure", () => {
  test("a reader that does not read stops the engine after the credit and its own look-ahead", async () => {
    const ahead = 2;
    const { engine, start } = await pair({ ahead });
    const generation = start(["z".repeat(500)]);
    await until(() => engine.counters.produced > 0);
    // What the credit lets through, the first batch on the reader's side, and what the engine has ready.
    const most = (creditWindow + 2) * ahead;
    expect(await settled(engine)).toBeLessThanOrEqual(most);

    const batches = generation[Symbol.asyncIterator]();
    let read = 0;
    for (let round = 0; round < 10; round++) {
      const step = await batches.next();
      read += step.done === true ? 0 : step.value.ids.length;
      expect((await settled(engine)) - read).toBeLessThanOrEqual(most);
    }
    expect(read).toBeGreaterThan(0);
    expect((await readAll(generation)).length).toBe(500 - read + 1);
  });

  test("two readers do not wait for each other", async () => {
    const { engine, start, client, handle } = await pair({ ahead: 2 });
    const slow = start(["z".repeat(500)]);
    await until(() => engine.counters.produced > 0);
    const quick = client.generate(generateRequest(handle, Int32Array.of(9), { maxTokens: 0 }));
    expect((await readAll(quick)).length).toBe(501);
    slow.cancel();
    expect((await slow.outcome).cause).toBe("cancelled");
  });
});

describe("an end", () => {
  test("asked for by cancel comes within one step", async () => {
    const { engine, start } = await pair({ ahead: 1 });
    const generation = start([{ pace: 5 }, "z".repeat(500)]);
    const batches = generation[Symbol.asyncIterator]();
    await batches.next();
    const before = engine.counters.produced;
    generation.cancel();
    await generation.outcome;
    // One that was in the making while the message travelled, one that was made as it arrived.
    expect(engine.counters.produced - before).toBeLessThanOrEqual(2);
    expect(engine.counters.cancelled).toBe(1);
  });

  test("comes to the engine when the reader leaves, also without credit", async () => {
    const { engine, start } = await pair({ ahead: 1 });
    for await (const _ of start(["z".repeat(500)])) {
      await settled(engine);
      break;
    }
    await until(() => engine.counters.cancelled === 1);
    expect(engine.counters.produced).toBeLessThan(20);
  });

  test("of the server cancels what runs and closes the engine", async () => {
    const { engine, server, start, client } = await pair({ ahead: 1 });
    const generation = start([{ hang: "cancellable" }]);
    const reading = readAll(generation);
    await until(() => engine.requests.length === 1);
    await server.close();
    await reading;
    expect((await generation.outcome).cause).toBe("cancelled");
    expect((await failure(client.info())).code).toBe("engine.unavailable");
  });

  test("of the port fails what is in flight after the batches that came, and what comes later", async () => {
    const { client, engine, start } = await pair({ ahead: 1 });
    const generation = start(["ab", { hang: "cancellable" }]);
    await until(() => engine.counters.delivered === 2);
    await settled(engine);
    client.fail((running) => new HalogenError("engine.crashed", `gone while ${running}`));
    const read: number[] = [];
    const error = await failure(
      (async () => {
        for await (const batch of generation) read.push(...batch.ids);
      })(),
    );
    expect(read).toEqual([97, 98]);
    expect(error.message).toBe("gone while writing a reply (2 tokens so far)");
    expect((await failure(client.info())).code).toBe("engine.crashed");
    expect((await failure(readAll(start(["x"])))).code).toBe("engine.crashed");
  });
});

describe("what crosses", () => {
  test("errors keep code, message, hint and numbers, after the tokens before them", async () => {
    const { start } = await pair();
    const generation = start([
      "ab",
      { fail: { code: "memory.exhausted", message: "no", hint: "less", detail: { bytes: 7 } } },
    ]);
    const ids: number[] = [];
    const error = await failure(
      (async () => {
        for await (const batch of generation) ids.push(...batch.ids);
      })(),
    );
    expect(ids).toEqual([97, 98]);
    expect(error).toBeInstanceOf(HalogenError);
    expect(error).toMatchObject({ code: "memory.exhausted", message: "no", hint: "less", detail: { bytes: 7 } });
  });

  test("progress of a prefill arrives before the first batch", async () => {
    const { start } = await pair();
    const seen: string[] = [];
    for await (const _ of start(["a"], (progress) => seen.push(progress.phase))) seen.push("batch");
    expect(seen[0]).toBe("prefill");
    expect(seen).toContain("batch");
  });

  test("typed arrays arrive as what they were", async () => {
    const { client, handle } = await pair();
    const generation = client.generate(
      generateRequest(handle, Int32Array.of(1), { maxTokens: 1, alternatives: 2, sampling: { ...greedy, seed: 3 } }),
    );
    for await (const batch of generation) {
      expect(batch.ids).toBeInstanceOf(Int32Array);
      expect(batch.logprobs).toBeInstanceOf(Float32Array);
      expect(batch.alternativeIds).toHaveLength(2);
    }
    expect((await client.vocabulary("/model.gguf")).tokens.bytes).toBeInstanceOf(Uint8Array);
    expect(await client.score(handle, Int32Array.of(1, 2), 1)).toBeInstanceOf(Float32Array);
  });
});
