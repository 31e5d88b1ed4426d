/** The engine process as main sees it: crashes, hangs, restarts, closing. Real processes, scripted engine. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { EngineHost } from "../../../../main/engine/host.ts";
import { createHost } from "../../../../main/engine/host.ts";
import { createNodeSpawn } from "../../../../main/engine/spawn.ts";
import { failure, readAll } from "../../../fixtures/engine-contract.ts";
import { alive, childEntry, hostOf, scriptedHost, scriptedModule, until } from "../../../fixtures/engine-process.ts";
import { generateRequest, loadOptions } from "../../../fixtures/engine-request.ts";
import type { Script } from "../../../fixtures/scripted-engine-script.ts";
import { scriptedVocabulary } from "../../../fixtures/scripted-engine-vocabulary.ts";

const words = scriptedVocabulary();
const say = (...script: Script): Int32Array => Int32Array.from(words.encode(`script:${JSON.stringify(script)}`));
const path = "/model.gguf";

const hosts: EngineHost[] = [];
function open(...args: Parameters<typeof scriptedHost>): ReturnType<typeof scriptedHost> {
  const made = scriptedHost(...args);
  hosts.push(made.host);
  return made;
}
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

function pidOf(host: EngineHost): number {
  const pid = host.pid();
  if (pid === null) throw new Error("no engine runs");
  return pid;
}

async function begin(
  host: EngineHost,
  ...script: Script
): Promise<{ handle: number; generation: ReturnType<EngineHost["generate"]> }> {
  const { handle } = await host.load(loadOptions(path));
  return { handle, generation: host.generate(generateRequest(handle, say(...script), { maxTokens: 0 })) };
}

/** Reads until it fails; gives what was read and the error. */
async function readUntilFailure(
  generation: ReturnType<EngineHost["generate"]>,
  onBatch: () => void = () => undefined,
): Promise<{ text: string; error: Awaited<ReturnType<typeof failure>> }> {
  const ids: number[] = [];
  const reading = (async () => {
    for await (const batch of generation) {
      ids.push(...batch.ids);
      onBatch();
    }
  })();
  const error = await failure(reading);
  return { text: words.decode(ids), error };
}

describe("a crash", () => {
  test("kill -9 in mid-reply: the reply ends with engine.crashed, the next one works with the same handle", async () => {
    const { host, statuses } = open();
    const { handle, generation } = await begin(host, { pace: 5 }, "x".repeat(400));
    const first = pidOf(host);
    let killed = false;
    const { text, error } = await readUntilFailure(generation, () => {
      if (!killed) process.kill(first, "SIGKILL");
      killed = true;
    });
    expect(text.length).toBeGreaterThan(0);
    expect(error.code).toBe("engine.crashed");
    expect(error.message).toContain("SIGKILL");
    expect(error.message).toContain("writing a reply");
    expect(error.hint).toContain("next message");
    expect(error.detail).toMatchObject({ signal: "SIGKILL", exitCode: null });
    expect(host.status()).toMatchObject({ state: "restarting", lastCrash: { code: "engine.crashed" } });

    const again = host.generate(generateRequest(handle, say("back again"), { maxTokens: 10 }));
    expect(words.decode(await readAll(again))).toBe("back again");
    expect(host.pid()).not.toBe(first);
    expect(host.status()).toMatchObject({ state: "ready", restarts: 1, lastCrash: { code: "engine.crashed" } });
    expect(statuses.map((status) => status.state)).toEqual(expect.arrayContaining(["starting", "ready", "restarting"]));
    await host.unload(handle);
    expect((await failure(readAll(host.generate(generateRequest(handle, say("x")))))).code).toBe("model.not_loaded");
  });

  test.each([
    ["an exit code", { crash: 3 }, "exit code 3"],
    ["an abort", { crash: "SIGABRT" }, "SIGABRT"],
    ["a segmentation fault", { crash: "SIGSEGV" }, "SIGSEGV"],
  ] as const)("by %s is told apart, and all tokens before it are delivered", async (_, step, said) => {
    const { host } = open();
    const { generation } = await begin(host, "so far", { wait: 200 }, step);
    const { text, error } = await readUntilFailure(generation);
    expect(text).toBe("so far");
    expect(error.code).toBe("engine.crashed");
    expect(error.message).toContain(said);
  });

  test("rejects every call in flight, also a load, and says which", async () => {
    const { host } = open({ load: { steps: 100, pace: 50 } });
    const error = await failure(host.load(loadOptions("/folder/big.gguf"), () => process.kill(pidOf(host), "SIGKILL")));
    expect(error.code).toBe("engine.crashed");
    expect(error.message).toContain("loading big.gguf");
  });

  test("after many in a row the engine is left alone until it is needed, then starts again", async () => {
    const { host, statuses } = open({}, { limits: { attempts: 2, firstDelay: 1, longestDelay: 2 } });
    const { handle } = await host.load(loadOptions(path));
    for (let round = 0; round < 3; round++) {
      await readUntilFailure(host.generate(generateRequest(handle, say({ crash: 1 }))));
    }
    expect(host.status().state).toBe("failed");
    expect(host.pid()).toBeNull();
    expect(words.decode(await readAll(host.generate(generateRequest(handle, say("ok"), { maxTokens: 2 }))))).toBe("ok");
    expect(statuses[statuses.length - 1]?.state).toBe("ready");
  });

  test("while it restarts, a reply can be cancelled at once", async () => {
    const { host } = open({}, { limits: { firstDelay: 60_000, longestDelay: 60_000 } });
    const { handle, generation } = await begin(host, { crash: 1 });
    await readUntilFailure(generation);
    const waiting = host.generate(generateRequest(handle, say("never")));
    const reading = readAll(waiting);
    waiting.cancel();
    expect(await reading).toEqual([]);
    expect((await waiting.outcome).cause).toBe("cancelled");
  });

  test("the reloaded model keeps the context it had", async () => {
    const { host } = open();
    const { handle, plan } = await host.load(loadOptions(path, { contextLength: 300 }));
    expect(plan.contextLength).toBe(300);
    await readUntilFailure(host.generate(generateRequest(handle, say({ crash: 1 }))));
    const long = new Int32Array(300).fill(65);
    const { error } = await readUntilFailure(host.generate(generateRequest(handle, long)));
    expect(error.code).toBe("context.exceeded");
    expect(error.message).toContain("300");
  });
});

describe("a hang", () => {
  test("of the process is found by its silence and ends as engine.crashed", async () => {
    const { host } = open({}, { limits: { heartbeat: 50, hang: 200 } });
    const { handle, generation } = await begin(host, "a", { wait: 100 }, { block: 60_000 });
    const { text, error } = await readUntilFailure(generation);
    expect(text).toBe("a");
    expect(error.code).toBe("engine.crashed");
    expect(error.message).toContain("did not answer");
    expect(await readAll(host.generate(generateRequest(handle, say("b"), { maxTokens: 1 })))).toEqual([98]);
  });

  test("of a device is found by its lack of progress", async () => {
    const { host } = open({}, { limits: { heartbeat: 50, stall: 300 } });
    const { generation } = await begin(host, "a", { hang: "deaf" });
    const { error } = await readUntilFailure(generation);
    expect(error.code).toBe("engine.crashed");
    expect(error.message).toContain("made no progress");
  });

  test("is not what a slow reader looks like", async () => {
    const { host } = open({}, { limits: { heartbeat: 20, hang: 10_000, stall: 100 } });
    const { generation } = await begin(host, "y".repeat(100));
    const batches = generation[Symbol.asyncIterator]();
    await batches.next();
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect((await readAll(generation)).length).toBeGreaterThan(0);
    expect((await generation.outcome).cause).toBe("length");
  });
});

describe("a start", () => {
  test("that fails gives the engine's own reason, and the next use tries again", async () => {
    const { host } = hostOf({ module: resolve(import.meta.dirname, "no-such-module.ts") });
    hosts.push(host);
    const error = await failure(host.info());
    expect(error.message).toContain("no-such-module");
    expect(host.status()).toMatchObject({ state: "failed", devices: [] });
    expect((await failure(host.info())).message).toContain("no-such-module");
  });

  test("that takes too long is ended as engine.timeout", async () => {
    const { host } = open({}, { limits: { start: 1 } });
    expect((await failure(host.info())).code).toBe("engine.timeout");
  });

  test("of something that is no engine process is engine.crashed with what it said", async () => {
    const entry = resolve(import.meta.dirname, "not-there.ts");
    let said = "";
    const spawn = createNodeSpawn({
      entry,
      onStderr: (text) => {
        said += text;
      },
    });
    const host = createHost({ spawn });
    hosts.push(host);
    const error = await failure(host.info());
    expect(error.code).toBe("engine.crashed");
    expect(error.message).toContain("exit code");
    expect(error.detail.stderr).toContain("not-there.ts");
    expect(said).toContain("not-there.ts");
  });

  test("of a program that does not exist is an error, not a hang", async () => {
    const spawn = createNodeSpawn({ entry: childEntry, execPath: "/no/such/node" });
    const host = createHost({ spawn });
    hosts.push(host);
    const error = await failure(host.info());
    expect(error.code).toBe("engine.crashed");
    expect(error.message).toContain("could not be started");
  });

  test("that throws is engine.unavailable with its words, in a process and without one", async () => {
    const spawn = () => {
      throw new Error("no such folder");
    };
    for (const inProcess of [false, true]) {
      const host = createHost({ spawn, inProcess, loadInProcess: spawn });
      hosts.push(host);
      const error = await failure(host.info());
      expect(error.code).toBe("engine.unavailable");
      expect(error.message).toContain("no such folder");
      expect(host.status()).toMatchObject({ state: "failed", inProcess });
    }
  });

  test("can be waited for by many at once and is made once", async () => {
    const { host, statuses } = open();
    await Promise.all([host.info(), host.inspect(path), host.load(loadOptions(path))]);
    expect(statuses.filter((status) => status.state === "starting")).toHaveLength(1);
  });
});

describe("closing leaves no process", () => {
  const phases: [string, Script, { load?: { steps: number; pace: number }; prefillPace?: number }][] = [
    ["in prefill", ["never"], { prefillPace: 50 }],
    ["in a reply", [{ pace: 20 }, "x".repeat(400)], {}],
    ["in a reply that does not hear", ["a", { hang: "deaf" }], {}],
    ["in a reply that blocks its thread", [{ block: 60_000 }], {}],
  ];
  for (const [phase, script, engine] of phases) {
    test(phase, async () => {
      const { host } = open(engine, { limits: { close: 500 } });
      const { generation } = await begin(host, ...script);
      const pid = pidOf(host);
      const reading = readAll(generation).catch((error: unknown) => error);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await host.close();
      await reading;
      await until(() => !alive(pid), 1000);
      expect(host.status().state).toBe("closed");
    });
  }

  test("in a load, which ends as request.cancelled", async () => {
    const { host } = open({ load: { steps: 100, pace: 100 } });
    let reported: () => void = () => undefined;
    const started = new Promise<void>((resolve) => {
      reported = resolve;
    });
    const loading = failure(host.load(loadOptions(path), () => reported()));
    await started;
    const pid = pidOf(host);
    await host.close();
    expect((await loading).code).toBe("request.cancelled");
    await until(() => !alive(pid), 1000);
  });

  test("while it starts", async () => {
    const { host } = open();
    const starting = failure(host.info());
    await host.close();
    expect((await starting).code).toBe("engine.unavailable");
    expect(host.status().state).toBe("closed");
  });

  test("when main is killed", async () => {
    const parent = fork(
      resolve(import.meta.dirname, "../../../fixtures/engine-parent.ts"),
      [childEntry, scriptedModule],
      {
        execArgv: [],
      },
    );
    const [pid] = (await once(parent, "message")) as [number];
    expect(alive(pid)).toBe(true);
    parent.kill("SIGKILL");
    await until(() => !alive(pid), 5000);
  });
});

describe("an aborted load", () => {
  test("ends as request.cancelled and leaves nothing loaded", async () => {
    const { host } = open({ load: { steps: 100, pace: 50 } });
    const control = new AbortController();
    const error = await failure(host.load(loadOptions(path), () => control.abort(), control.signal));
    expect(error.code).toBe("request.cancelled");
    expect((await host.memory()).every((pool) => pool.used === 0)).toBe(true);
  });

  test("is heard while the engine still starts", async () => {
    const { host } = open();
    const control = new AbortController();
    const loading = failure(host.load(loadOptions(path), undefined, control.signal));
    control.abort();
    expect((await loading).code).toBe("request.cancelled");
  });
});
