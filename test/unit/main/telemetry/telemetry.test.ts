import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Telemetry, telemetrySchema } from "../../../../app/contract/engine.ts";
import type { AnyEvent } from "../../../../app/contract/event.ts";
import type { Message } from "../../../../app/contract/message.ts";
import type { Model } from "../../../../app/contract/model.ts";
import type { MemoryPool } from "../../../../app/engine.ts";
import { createLinuxMachine, createMachine } from "../../../../main/telemetry/machine.ts";
import { createTelemetry } from "../../../../main/telemetry/telemetry.ts";

/** In the form of the kernel, with a page cache that MemFree alone would count as used. */
const meminfo = `MemTotal:       32599012 kB
MemFree:         1203456 kB
MemAvailable:   27500000 kB
Buffers:          123456 kB
SwapTotal:       8388604 kB
`;
const status = `Name:\tnode
VmPeak:\t 9000000 kB
VmRSS:\t  204800 kB
Threads:\t11
`;

const files: Record<string, string> = {
  "/proc/meminfo": meminfo,
  "/proc/10/status": status,
  "/proc/20/status": status,
};
const linux = createLinuxMachine(async (path) => {
  const text = files[path];
  if (text === undefined) throw Object.assign(new Error("gone"), { code: "ENOENT" });
  return text;
});

describe("the Linux machine", () => {
  it("counts what can be given back as free", async () => {
    expect(await linux.memory()).toEqual({ used: (32_599_012 - 27_500_000) * 1024, total: 32_599_012 * 1024 });
  });

  it("reads a process's resident bytes, and null of one that is gone or a kernel thread", async () => {
    expect(await linux.residentBytes(10)).toBe(204_800 * 1024);
    expect(await linux.residentBytes(11)).toBeNull();
    expect(await createLinuxMachine(async () => "Name:\tkthreadd\n").residentBytes(2)).toBeNull();
  });

  it("says so when the system's file is not as known", async () => {
    await expect(createLinuxMachine(async () => "nothing").memory()).rejects.toThrow("MemTotal");
  });
});

it("reads this very machine", async () => {
  const machine = createMachine(process.platform, { pid: process.pid, rss: () => process.memoryUsage.rss() });
  const { used, total } = await machine.memory();
  expect(used).toBeGreaterThan(0);
  expect(used).toBeLessThan(total);
  expect(await machine.residentBytes(process.pid)).toBeGreaterThan(10_000_000);
});

const model = { id: "m", name: "Model", plan: { contextLength: 8192 } } as Model;

function reply(status: Message["status"], id = "r1"): AnyEvent {
  const stats = {
    promptTokens: 100,
    reused: 0,
    recomputed: 100,
    generatedTokens: 7,
    prefillMilliseconds: 1,
    decodeMilliseconds: 1,
    firstTokenMilliseconds: 1,
    tokensPerSecond: 9,
    seed: 1,
  };
  return {
    name: "message.changed",
    payload: {
      id,
      sessionId: "s",
      parentId: null,
      role: "assistant",
      blocks: [],
      status,
      error: null,
      createdAt: 1,
      modelId: "m",
      modelName: "Model",
      stats: status === "complete" ? stats : null,
    },
  };
}

const delta = (tokens: number, tokensPerSecond: number, messageId = "r1"): AnyEvent => ({
  name: "message.delta",
  payload: { sessionId: "s", messageId, block: 0, type: "text", offset: 0, text: "x", tokens, tokensPerSecond },
});
const prefill = (total: number): AnyEvent => ({
  name: "message.progress",
  payload: { sessionId: "s", messageId: "r1", phase: "prefill", done: 0, total },
});

describe("telemetry", () => {
  let sent: Telemetry[] = [];
  let faults: unknown[] = [];
  let memory: () => Promise<MemoryPool[]>;
  let samples = 0;

  beforeEach(() => {
    vi.useFakeTimers();
    sent = [];
    faults = [];
    samples = 0;
    memory = async () => [{ name: "ram", used: 5, limit: 10 }];
  });
  afterEach(() => vi.useRealTimers());

  function open(loaded: Model | null = model) {
    return createTelemetry({
      engine: {
        memory: () => {
          samples += 1;
          return memory();
        },
      },
      pids: () => [10, 20, 10],
      loadedModel: () => loaded,
      machine: linux,
      emit: (event) => {
        if (event.name === "telemetry.changed") sent.push(event.payload);
      },
      report: (error) => faults.push(error),
    });
  }

  it("reads everything once when asked, each process once", async () => {
    const value = await open().read();
    expect(telemetrySchema.parse(value)).toEqual({
      modelId: "m",
      modelName: "Model",
      tokensPerSecond: null,
      contextUsed: 0,
      contextLength: 8192,
      memory: [{ name: "ram", used: 5, limit: 10 }],
      processBytes: 2 * 204_800 * 1024,
      machineUsed: (32_599_012 - 27_500_000) * 1024,
      machineTotal: 32_599_012 * 1024,
    });
    expect(telemetrySchema.safeParse(await open(null).read()).success).toBe(true);
    expect(sent).toEqual([]);
  });

  it("samples at once and then each second while a reply streams, and stops after it", async () => {
    const telemetry = open();
    telemetry.observe(reply("streaming"));
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toHaveLength(1);
    telemetry.observe(prefill(100));
    for (let i = 1; i <= 50; i++) telemetry.observe(delta(i, 40 + i));
    telemetry.observe(reply("streaming"));
    await vi.advanceTimersByTimeAsync(3000);
    expect(sent).toHaveLength(4);
    expect(sent[3]).toMatchObject({ tokensPerSecond: 90, contextUsed: 150 });
    telemetry.observe(reply("complete"));
    await vi.advanceTimersByTimeAsync(0);
    expect(sent[4]).toMatchObject({ tokensPerSecond: null, contextUsed: 107 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent).toHaveLength(5);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("costs nothing per token", async () => {
    const telemetry = open();
    telemetry.observe(reply("streaming"));
    await vi.advanceTimersByTimeAsync(0);
    for (let i = 0; i < 10_000; i++) telemetry.observe(delta(i, 1));
    await vi.advanceTimersByTimeAsync(0);
    expect(samples).toBe(1);
    telemetry.close();
  });

  it("shows the reply that spoke last of two, and goes on when one ends", async () => {
    const telemetry = open();
    telemetry.observe(reply("streaming", "r1"));
    telemetry.observe(reply("streaming", "r2"));
    telemetry.observe(delta(5, 11, "r1"));
    telemetry.observe(delta(6, 22, "r2"));
    expect((await telemetry.read()).tokensPerSecond).toBe(22);
    telemetry.observe(reply("failed", "r2"));
    expect((await telemetry.read()).tokensPerSecond).toBe(11);
    telemetry.close();
  });

  it("keeps going while it is watched or a model loads", async () => {
    const telemetry = open();
    const stop = telemetry.watch();
    await vi.advanceTimersByTimeAsync(2000);
    expect(sent).toHaveLength(3);
    stop();
    stop();
    const loading = (state: Model["state"]): AnyEvent => ({ name: "model.changed", payload: { ...model, state } });
    telemetry.observe(loading("loading"));
    telemetry.observe(loading("loading"));
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent).toHaveLength(5);
    telemetry.observe(loading("loaded"));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sent).toHaveLength(6);
  });

  it("never asks a slow engine twice at once", async () => {
    let answer: () => void = () => {};
    memory = () =>
      new Promise((resolve) => {
        answer = () => resolve([]);
      });
    const telemetry = open();
    telemetry.watch();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(samples).toBe(1);
    answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(samples).toBe(2);
    telemetry.close();
    answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toHaveLength(1);
  });

  it("shows no pools while the engine is away, and reports another fault once", async () => {
    memory = () => Promise.reject(new Error("engine is gone"));
    const telemetry = open();
    expect((await telemetry.read()).memory).toEqual([]);
    files["/proc/meminfo"] = "";
    telemetry.watch();
    await vi.advanceTimersByTimeAsync(5000);
    expect(faults).toHaveLength(1);
    files["/proc/meminfo"] = meminfo;
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent).toHaveLength(1);
    telemetry.close();
  });
});
