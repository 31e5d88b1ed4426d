import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { messageSchema } from "../../app/contract/message.ts";
import { noSampling, type SamplingOptions, sessionDocumentSchema } from "../../app/contract/session.ts";
import { addSession, message } from "./maker.ts";
import { scratchStore } from "./scratch.ts";

const stats = {
  promptTokens: 12,
  reused: 4,
  recomputed: 8,
  generatedTokens: 3,
  prefillMilliseconds: 1.5,
  decodeMilliseconds: 2.5,
  firstTokenMilliseconds: 2,
  tokensPerSecond: 120.25,
  seed: 4_294_967_295,
};

describe("sessions", () => {
  it("keeps every field over a restart", () => {
    const scratch = scratchStore();
    scratch.store.createSession({ id: "s1", title: "Größe 模型 😀", system: "Be brief.\u0000\n", modelId: "m" });
    const sampling: SamplingOptions = {
      ...noSampling,
      temperature: 0.7,
      topK: 20,
      topP: 0.9,
      dryBreakers: ["\n", "模"],
      logitBias: [{ token: 5, bias: -1.5 }],
      order: ["top_p", "temperature"],
      stop: ["User:"],
      seed: 7,
      maxTokens: 100,
    };
    const updated = scratch.store.updateSession("s1", { titled: true, pinned: true, sampling });
    expect(updated).toMatchObject({
      title: "Größe 模型 😀",
      titled: true,
      pinned: true,
      modelId: "m",
      sampling,
      messageCount: 0,
      headId: null,
    });
    expect(scratch.reopen().session("s1")).toEqual(updated);
  });

  it("changes only what a patch names, and the time only when asked", () => {
    const { store } = scratchStore();
    addSession(store);
    const before = store.session("s1");
    expect(store.updateSession("s1", { title: "Other" })).toEqual({ ...before, title: "Other" });
    expect(store.updateSession("s1", { touch: true }).updatedAt).toBeGreaterThan(before?.updatedAt ?? 0);
  });

  it("lists pinned ones first, then the one used last", () => {
    const { store } = scratchStore();
    for (const id of ["a", "b", "c"]) addSession(store, id);
    store.addMessage(message("m1", "hello", { sessionId: "a" }));
    store.updateSession("b", { pinned: true });
    expect(store.listSessions().map((session) => session.id)).toEqual(["b", "a", "c"]);
  });

  it("hides a deleted one, brings it back, and removes it for good at the next start", () => {
    const scratch = scratchStore();
    addSession(scratch.store);
    scratch.store.addMessage(message("m1", "the secret word xylophone"));
    scratch.store.deleteSession("s1");
    expect(scratch.store.listSessions()).toEqual([]);
    expect(scratch.store.document("s1")).toBeNull();
    expect(scratch.store.search("xylophone")).toEqual([]);
    expect(() => scratch.store.deleteSession("s1")).toThrow(expect.objectContaining({ code: "session.not_found" }));

    expect(scratch.store.restoreSession("s1").messageCount).toBe(1);
    expect(scratch.store.search("xylophone")).toHaveLength(1);

    scratch.store.deleteSession("s1");
    scratch.reopen();
    expect(() => scratch.store.restoreSession("s1")).toThrow(expect.objectContaining({ code: "session.not_found" }));
    expect(scratch.store.message("m1")).toBeNull();
  });

  it("leaves no trace of a removed chat in its files", async () => {
    const { readFileSync, readdirSync } = await import("node:fs");
    const { dirname, join } = await import("node:path");
    const scratch = scratchStore();
    addSession(scratch.store, "s1", "quizzical title");
    addSession(scratch.store, "s2", "kept title");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    scratch.store.addMessage(message("m1", "the secret word xylophone ".repeat(2000)));
    vi.runAllTimers();
    scratch.store.deleteSession("s1");
    scratch.reopen();
    const folder = dirname(scratch.path);
    const bytes = Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));
    expect(bytes.includes("kept title")).toBe(true);
    for (const word of ["xylophone", "quizzical", "phon"]) expect(bytes.includes(word)).toBe(false);
  });

  it("says which chat or message is not there", () => {
    const { store } = scratchStore();
    addSession(store);
    addSession(store, "s2");
    store.addMessage(message("m1", "x", { sessionId: "s2" }));
    const missing = (code: string) => expect.objectContaining({ name: "HalogenError", code });
    expect(() => store.updateSession("nope", {})).toThrow(missing("session.not_found"));
    expect(() => store.addMessage(message("m2", "x", { sessionId: "nope" }))).toThrow(missing("session.not_found"));
    expect(() => store.addMessage(message("m2", "x", { parentId: "nope" }))).toThrow(missing("message.not_found"));
    expect(() => store.addMessage(message("m2", "x", { parentId: "m1" }))).toThrow(missing("request.invalid"));
    expect(() => store.setHead("s1", "m1")).toThrow(missing("request.invalid"));
    expect(() => store.updateMessage(message("nope", "x"))).toThrow(missing("message.not_found"));
    expect(() => store.pathTo("nope")).toThrow(missing("message.not_found"));
    expect(store.document("s1")?.messages).toEqual([]);
  });
});

describe("messages", () => {
  it("keeps every field over a restart", () => {
    const scratch = scratchStore();
    addSession(scratch.store);
    const error = {
      code: "engine.crashed",
      message: "The engine stopped",
      hint: "Try again",
      detail: { signal: "SIGKILL", tokens: 3, ok: false, x: null },
    } as const;
    const written = message(
      "m1",
      [
        { type: "reasoning", text: "thinking\u0000 👩‍👩‍👧‍👦", finished: true, milliseconds: 12.5, tokens: 9 },
        { type: "text", text: "" },
        { type: "text", text: "line\r\n\u2028 {{ name }} 模" },
      ],
      { role: "assistant", status: "failed", error, modelId: "model", modelName: "Model", stats },
    );
    scratch.store.addMessage(written, { head: true });
    expect(scratch.reopen().message("m1")).toEqual(written);
    expect(scratch.store.document("s1")).toMatchObject({
      session: { headId: "m1", messageCount: 1 },
      messages: [written],
    });
    expect(sessionDocumentSchema.safeParse(scratch.store.document("s1")).success).toBe(true);
  });

  it("writes only what was added while a reply streams, however long it is", () => {
    const scratch = scratchStore();
    addSession(scratch.store);
    let text = "0123456789".repeat(10_000);
    const reply = (): ReturnType<typeof message> => message("m1", text, { role: "assistant", status: "streaming" });
    scratch.store.addMessage(reply());
    const ask = (sql: string): unknown[] => {
      const database = new Database(scratch.path, { readonly: true });
      try {
        return database.prepare(sql).pluck().all();
      } finally {
        database.close();
      }
    };
    for (let i = 0; i < 20; i++) {
      text += `piece ${i} `;
      scratch.store.updateMessage(reply());
    }
    expect(scratch.store.message("m1")).toEqual(reply());
    scratch.store.close();
    const pieces = ask("SELECT length(text) FROM piece ORDER BY number") as number[];
    expect(pieces).toHaveLength(21);
    expect(Math.max(...pieces.slice(1))).toBeLessThan(10);

    scratch.reopen();
    scratch.store.updateMessage({ ...reply(), status: "complete" });
    expect(scratch.store.message("m1")).toEqual({ ...reply(), status: "complete" });
    scratch.store.close();
    expect(ask("SELECT count(*) FROM piece")).toEqual([1]);
  });

  it("never stores half of a surrogate pair", () => {
    const { store } = scratchStore();
    addSession(store);
    const whole = "a👋b";
    for (let length = 0; length <= whole.length; length++) {
      const streaming = message("m1", whole.slice(0, length), { role: "assistant", status: "streaming" });
      if (length === 0) store.addMessage(streaming);
      else store.updateMessage(streaming);
      const block = store.message("m1")?.blocks[0];
      expect(["", "a", "a", "a👋", "a👋b"][length]).toBe(block?.type === "text" ? block.text : null);
    }
  });

  it("follows a reply whose blocks change their kind, shrink or start over", () => {
    const { store } = scratchStore();
    addSession(store);
    const states: ReturnType<typeof message>["blocks"][] = [
      [{ type: "text", text: "abc" }],
      [{ type: "reasoning", text: "abc", finished: false, milliseconds: null, tokens: null }],
      [
        { type: "reasoning", text: "abcdef", finished: true, milliseconds: 3, tokens: 2 },
        { type: "text", text: "x" },
      ],
      [{ type: "reasoning", text: "other", finished: true, milliseconds: 3, tokens: 2 }],
      [],
      [{ type: "text", text: "done" }],
    ];
    store.addMessage(message("m1", [], { role: "assistant", status: "streaming" }));
    for (const blocks of states) {
      const next = message("m1", blocks, { role: "assistant", status: "streaming" });
      store.updateMessage(next);
      expect(store.message("m1")).toEqual(next);
    }
  });

  it("keeps a finished message exact when it is edited or continued", () => {
    const { store } = scratchStore();
    addSession(store);
    store.addMessage(message("m1", "stopped he", { role: "assistant", status: "stopped" }));
    const more = message("m1", "stopped here and went on", { role: "assistant", status: "streaming" });
    store.updateMessage(more);
    expect(store.message("m1")).toEqual(more);
    const shorter = message("m1", "rewritten", { role: "assistant" });
    store.updateMessage(shorter);
    expect(store.message("m1")).toEqual(shorter);
  });

  it("turns what still streams into interrupted at start, and it can be found", () => {
    const scratch = scratchStore();
    addSession(scratch.store);
    scratch.store.addMessage(message("m1", "question"));
    scratch.store.addMessage(
      message("m2", "half an answer about marmalade", { parentId: "m1", role: "assistant", status: "streaming" }),
      { head: true },
    );
    expect(scratch.store.search("marmalade")).toHaveLength(1);
    const [left, ...rest] = scratch.reopen().markInterrupted();
    expect(rest).toEqual([]);
    expect(left).toMatchObject({
      id: "m2",
      status: "interrupted",
      blocks: [{ text: "half an answer about marmalade" }],
    });
    expect(scratch.store.interrupted()).toEqual([left]);
    expect(scratch.store.markInterrupted()).toEqual([]);
    expect(scratch.store.search("marmalade")).toHaveLength(1);
    expect(messageSchema.safeParse(left).success).toBe(true);
  });

  it("undoes a write that fails half-way, and goes on exactly after it", () => {
    const { store } = scratchStore();
    addSession(store);
    store.addMessage(message("m1", "abc", { role: "assistant", status: "streaming" }));
    const broken = message(
      "m1",
      [
        { type: "text", text: "abcdef" },
        { type: "text", text: 5n as unknown as string },
      ],
      { role: "assistant", status: "streaming" },
    );
    expect(() => store.updateMessage(broken)).toThrow();
    expect(store.message("m1")?.blocks).toEqual([{ type: "text", text: "abc" }]);
    const next = message("m1", "abcdefghi", { role: "assistant", status: "streaming" });
    store.updateMessage(next);
    expect(store.message("m1")).toEqual(next);
  });
});

describe("settings", () => {
  it("keeps JSON values and forgets removed ones", () => {
    const scratch = scratchStore();
    scratch.store.setSetting("a", { list: [1, null, "é"] });
    scratch.store.setSetting("b", null);
    scratch.store.setSetting("c", 1);
    scratch.store.setSetting("c", undefined);
    scratch.reopen();
    expect(["a", "b", "c"].map(scratch.store.setting)).toEqual([{ list: [1, null, "é"] }, null, undefined]);
  });
});
