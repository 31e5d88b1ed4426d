import { beforeEach, describe, expect, test } from "vitest";
import type { Message } from "../../../../app/contract/message.ts";
import type { Delta } from "../../../../renderer/logic/stream.ts";
import { createLiveStore, type LiveStore } from "../../../../renderer/store/live.ts";

let frames: (() => void)[];
let live: LiveStore;

function frame(): void {
  for (const run of frames.splice(0)) run();
}

function delta(offset: number, text: string, messageId = "m"): Delta {
  return { sessionId: "s", messageId, block: 0, type: "text", offset, text, tokens: offset + 1, tokensPerSecond: 50 };
}

function streaming(text: string): Message {
  const rest = {
    parentId: null,
    role: "assistant" as const,
    error: null,
    createdAt: 1,
    modelId: null,
    modelName: null,
    stats: null,
  };
  return { id: "m", sessionId: "s", status: "streaming", blocks: text === "" ? [] : [{ type: "text", text }], ...rest };
}

const shown = (messageId = "m") => live.getState().replies.get(messageId)?.blocks[0]?.text;

beforeEach(() => {
  frames = [];
  live = createLiveStore({ schedule: (run) => frames.push(run), clock: () => 0 });
});

describe("a streaming reply", () => {
  test("is shown once a frame, however many deltas come", () => {
    let changes = 0;
    live.begin(streaming(""));
    live.subscribe(() => changes++);
    for (let at = 0; at < 100; at += 1) live.delta(delta(at, "x"));
    expect(changes).toBe(0);
    frame();
    expect(changes).toBe(1);
    expect(shown()).toBe("x".repeat(100));
    expect(frames).toHaveLength(0);
  });

  test("a gap is said, and what came early is kept until the text before it is read", () => {
    live.begin(streaming("He"));
    expect(live.delta(delta(5, " there"))).toBe(false);
    live.begin(streaming("Hello"));
    expect(shown()).toBe("Hello there");
  });

  test("a snapshot that lags behind the stream takes nothing away", () => {
    live.begin(streaming(""));
    live.delta(delta(0, "Hello there"));
    live.begin(streaming("Hello"));
    frame();
    expect(shown()).toBe("Hello there");
  });

  test("two replies do not mix", () => {
    live.delta(delta(0, "one", "a"));
    live.delta(delta(0, "two", "b"));
    frame();
    expect([shown("a"), shown("b")]).toEqual(["one", "two"]);
  });

  test("progress ends with the first token", () => {
    live.progress({ sessionId: "s", messageId: "m", phase: "prefill", done: 1, total: 2 });
    frame();
    expect(live.getState().replies.get("m")?.progress).toEqual({ phase: "prefill", done: 1, total: 2 });
    live.delta(delta(0, "x"));
    frame();
    expect(live.getState().replies.get("m")?.progress).toBeNull();
  });

  test("after its end nothing is left, not even what was due in the next frame", () => {
    live.begin(streaming(""));
    live.delta(delta(0, "x"));
    live.end("m");
    frame();
    expect(live.getState().replies.size).toBe(0);
  });
});
