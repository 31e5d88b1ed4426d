/** The native engine in its process: killed, closed, restarted, with a real model. */
import { afterEach, describe, expect, test } from "vitest";
import type { EngineHost } from "../../main/engine/host.ts";
import { failure, readAll } from "../fixtures/engine-contract.ts";
import { alive, hostOf, until } from "../fixtures/engine-process.ts";
import { generateRequest, loadOptions } from "../fixtures/engine-request.ts";
import { starterModel, storyPrompt } from "../fixtures/starter-model.ts";

let host: EngineHost;
afterEach(() => host.close());

function start(): void {
  host = hostOf({}).host;
}

function pid(): number {
  const found = host.pid();
  if (found === null) throw new Error("no engine runs");
  return found;
}

describe("killed -9 in mid-reply", () => {
  test("what was made is read, then engine.crashed; the next reply comes from a new process and is the same", async () => {
    start();
    const { handle } = await host.load(loadOptions(starterModel()));
    const whole = await readAll(host.generate(generateRequest(handle, storyPrompt)));
    const first = pid();
    const generation = host.generate(generateRequest(handle, storyPrompt, { maxTokens: 400 }));
    const read: number[] = [];
    const error = await failure(
      (async () => {
        for await (const batch of generation) {
          read.push(...batch.ids);
          if (read.length >= 5) process.kill(first, "SIGKILL");
        }
      })(),
    );
    expect(error.code).toBe("engine.crashed");
    expect(read.slice(0, 24)).toEqual(whole.slice(0, read.length));
    expect((await failure(generation.outcome)).code).toBe("engine.crashed");

    expect(await readAll(host.generate(generateRequest(handle, storyPrompt)))).toEqual(whole);
    expect(pid()).not.toBe(first);
    expect(host.status()).toMatchObject({ state: "ready", restarts: 1, backend: "cpu" });
  });
});

describe("closed", () => {
  test("in a load: it ends as request.cancelled, and no process is left", async () => {
    start();
    let child = 0;
    let closing: Promise<void> | undefined;
    const error = await failure(
      host.load(loadOptions(starterModel()), () => {
        child ||= pid();
        closing ??= host.close();
      }),
    );
    expect(error.code).toBe("request.cancelled");
    await closing;
    await until(() => !alive(child), 5000);
  });

  test("in a prefill and in a reply: they end as cancelled, and no process is left", async () => {
    for (const phase of ["prefill", "reply"]) {
      start();
      const { handle } = await host.load(loadOptions(starterModel(), { contextLength: 8192 }));
      const child = pid();
      const tokens = phase === "prefill" ? new Int32Array(8000).fill(253) : storyPrompt;
      let closing: Promise<void> | undefined;
      const close = (): void => {
        closing ??= host.close();
      };
      const generation = host.generate(
        generateRequest(handle, tokens, { maxTokens: 0 }),
        phase === "prefill" ? close : undefined,
      );
      for await (const _ of generation) close();
      expect((await generation.outcome).cause).toBe("cancelled");
      await closing;
      await until(() => !alive(child), 5000);
    }
  });
});

describe("restarted on the user's wish", () => {
  test("the handle goes on in a new process, and that counts as no crash", async () => {
    start();
    const { handle } = await host.load(loadOptions(starterModel()));
    const before = await readAll(host.generate(generateRequest(handle, storyPrompt)));
    const first = pid();
    await host.restart();
    expect(pid()).not.toBe(first);
    await until(() => !alive(first), 5000);
    expect(await readAll(host.generate(generateRequest(handle, storyPrompt)))).toEqual(before);
    expect(host.status()).toMatchObject({ state: "ready", restarts: 0, lastCrash: null });
  });
});
