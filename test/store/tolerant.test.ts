/** One bad field never keeps a chat from opening (a real bug of a peer: a null number hid a whole conversation). */
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { noSampling, sessionDocumentSchema, sessionSchema } from "../../app/contract/session.ts";
import { addSession, message } from "./maker.ts";
import { type ScratchStore, scratchStore } from "./scratch.ts";

function spoil(scratch: ScratchStore, ...statements: string[]): void {
  scratch.store.close();
  const database = new Database(scratch.path);
  database.pragma("foreign_keys = OFF");
  database.pragma("ignore_check_constraints = ON");
  for (const statement of statements) database.exec(statement);
  database.close();
  scratch.reopen();
}

function withChat(): ScratchStore {
  const scratch = scratchStore();
  addSession(scratch.store);
  scratch.store.addMessage(message("m1", "question"));
  scratch.store.addMessage(message("m2", "answer", { parentId: "m1", role: "assistant", modelId: "model" }), {
    head: true,
  });
  return scratch;
}

const columns = {
  session: ["title", "titled", "created_at", "updated_at", "pinned", "system", "model_id", "sampling"],
  message: ["parent", "role", "status", "error", "created_at", "model_id", "model_name", "stats"],
  block: ["type", "attributes"],
  piece: ["text"],
};
const values = [
  "''",
  "'{'",
  "'{}'",
  "'[]'",
  "'null'",
  "-1",
  "1e99",
  "x'ff00ff'",
  `'${"x".repeat(100)}'`,
  `'{"temperature":null,"topK":"3","seed":-1,"extra":{}}'`,
];

describe("tolerant reading", () => {
  const cases = Object.entries(columns).flatMap(([table, names]) => names.map((name) => [table, name] as const));
  it.each(cases)("opens a chat with anything in %s.%s", (table, name) => {
    const scratch = withChat();
    for (const value of values) {
      spoil(scratch, `UPDATE ${table} SET ${name} = ${value}`);
      const document = scratch.store.document("s1");
      expect(sessionDocumentSchema.safeParse(document)).toMatchObject({ success: true });
      expect(document?.messages.map((entry) => entry.id)).toEqual(["m1", "m2"]);
      expect(scratch.store.listSessions().every((session) => sessionSchema.safeParse(session).success)).toBe(true);
      expect(() => scratch.store.search("question")).not.toThrow();
    }
  });

  it("keeps good fields beside bad ones", () => {
    const scratch = withChat();
    spoil(
      scratch,
      `UPDATE session SET sampling = '{"temperature":0.5,"topK":"many","seed":null,"unknown":1}'`,
      `UPDATE message SET stats = '{"promptTokens":7,"tokensPerSecond":null}', error = '{"code":"from.the.future","message":"Words"}'`,
      "UPDATE block SET type = 'tool_call'",
    );
    expect(scratch.store.session("s1")?.sampling).toEqual({ ...noSampling, temperature: 0.5 });
    expect(scratch.store.message("m2")).toMatchObject({
      blocks: [{ type: "text", text: "answer" }],
      stats: { promptTokens: 7, tokensPerSecond: 0 },
      error: { code: "internal", message: "Words" },
    });
  });

  it("shows every message though a parent, a head or a row of blocks is gone", () => {
    const scratch = withChat();
    spoil(scratch, "DELETE FROM message WHERE id = 'm1'", "DELETE FROM block", "DELETE FROM head");
    expect(scratch.store.document("s1")).toMatchObject({
      session: { headId: "m2", messageCount: 1 },
      messages: [{ id: "m2", parentId: null, blocks: [] }],
    });
    expect(scratch.store.pathTo("m2").map((entry) => entry.id)).toEqual(["m2"]);
  });

  it("ends on a circle of parents", () => {
    const scratch = withChat();
    spoil(scratch, "UPDATE message SET parent = 'm2' WHERE id = 'm1'");
    expect(scratch.store.pathTo("m2").map((entry) => entry.id)).toEqual(["m1", "m2"]);
    expect(scratch.store.document("s1")?.messages.map((entry) => entry.parentId)).toEqual([null, "m1"]);
  });
});
