import { describe, expect, it } from "vitest";
import type { Message } from "../../../../app/contract/message.ts";
import { createReply } from "../../../../main/chat/reply.ts";

const begun: Message = {
  id: "m",
  sessionId: "s",
  parentId: null,
  role: "assistant",
  blocks: [],
  status: "streaming",
  error: null,
  createdAt: 0,
  modelId: null,
  modelName: null,
  stats: null,
};

function at(start = 0) {
  let now = start;
  return { clock: () => now, pass: (milliseconds: number) => (now += milliseconds) };
}
const text = (value: string) => [{ kind: "text" as const, text: value }];
const thought = (value: string) => [{ kind: "reasoning" as const, text: value }];

describe("the live rate", () => {
  const rateOf = (step: number, count: number): number => {
    const { clock, pass } = at();
    const reply = createReply(begun, clock);
    for (let i = 0; i < count; i++) {
      pass(step);
      reply.add(text("x"), 1, false);
    }
    return reply.tokensPerSecond;
  };

  it("is that of the last second", () => {
    expect(rateOf(20, 200)).toBeCloseTo(50);
  });

  it("is there for models that need seconds for a token", () => {
    expect(rateOf(2000, 6)).toBeCloseTo(0.5);
  });

  it("is nothing before there is enough to say", () => {
    expect(rateOf(1, 2)).toBe(0);
  });
});

describe("thoughts", () => {
  it("are measured until their end, and a part that is continued adds up", () => {
    const time = at(1000);
    const first = createReply(begun, time.clock);
    first.add(thought("a"), 1, true);
    time.pass(100);
    first.add(thought("b"), 2, true);
    const stopped = first.finish({ status: "stopped", error: null, stats: null });
    expect(stopped.blocks).toEqual([{ type: "reasoning", text: "ab", finished: false, milliseconds: 100, tokens: 3 }]);

    time.pass(60_000);
    const second = createReply({ ...stopped, status: "streaming" }, time.clock);
    second.add(thought("c"), 1, true);
    time.pass(50);
    second.add([{ kind: "markup", text: "</think>" }], 1, false);
    time.pass(1000);
    second.add(text("d"), 1, false);
    expect(second.finish({ status: "complete", error: null, stats: null }).blocks).toEqual([
      { type: "reasoning", text: "abc", finished: true, milliseconds: 150, tokens: 4 },
      { type: "text", text: "d" },
    ]);
    expect(second.deltas().map((event) => event.payload)).toMatchObject([
      { block: 0, type: "reasoning", offset: 2, text: "c" },
      { block: 1, type: "text", offset: 0, text: "d" },
    ]);
    expect(second.deltas()).toEqual([]);
  });
});
