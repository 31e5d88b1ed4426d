/** The whole app is killed (-9) in mid-reply, twenty times: the store stays whole and the reply is there, up to 250 ms before the kill. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../app/contract/client.ts";
import type { Message } from "../../app/contract/message.ts";
import { makeAppFolder, removeAppFolder, type ServedApp, serveApp } from "../fixtures/served-app.ts";
import { connectClient } from "../unit/contract/transport.ts";

const times = 20;
/** The promise of the product, in milliseconds. */
const mostLost = 250;

let folder: string;
beforeAll(() => {
  folder = makeAppFolder();
});
afterAll(() => removeAppFolder(folder));

const textOf = (message: Message): string => message.blocks.map((block) => block.text).join("");

/** Starts a long reply and resolves when the kill is due: what had arrived, and when. */
async function streamUntil(client: Client, sessionId: string, milliseconds: number) {
  const arrived: { at: number; text: string }[] = [];
  let text = "";
  const due = new Promise<void>((resolve, reject) => {
    client.on("message.delta", (delta) => {
      text += delta.text;
      if (arrived.length === 0) setTimeout(resolve, milliseconds);
      arrived.push({ at: performance.now(), text });
    });
    client.on("message.changed", (message) => {
      if (message.role === "assistant" && message.status === "failed") reject(new Error(message.error?.message));
    });
  });
  const { reply } = await client.call("chat.send", {
    sessionId,
    parentId: null,
    text: "Tell me a long story of the sea.",
  });
  await due;
  return { replyId: reply.id, arrived };
}

function checkIntegrity(): void {
  const database = new Database(join(folder, "halogen.db"), { readonly: true });
  expect(database.pragma("integrity_check")).toEqual([{ integrity_check: "ok" }]);
  expect(database.pragma("foreign_key_check")).toEqual([]);
  database.close();
}

test(`killed ${times} times while it streams, nothing is lost`, async () => {
  const seen: { replyId: string; sessionId: string; due: string }[] = [];
  for (let time = 0; time < times; time += 1) {
    const app: ServedApp = await serveApp(folder);
    const { client } = await connectClient(app);
    const session = await client.call("session.create", {});
    await client.call("session.update", { sessionId: session.id, sampling: { temperature: 0 } });
    // Spread over the rhythm in which replies are flushed, so that the kill falls into every part of it.
    const { replyId, arrived } = await streamUntil(client, session.id, 300 + time * 37);
    const killedAt = performance.now();
    await app.kill();
    client.close();
    checkIntegrity();
    const due = arrived.filter((one) => one.at <= killedAt - mostLost).at(-1)?.text ?? "";
    seen.push({ replyId, sessionId: session.id, due });
  }
  expect(seen.some((one) => one.due.length > 40)).toBe(true);

  const app = await serveApp(folder);
  const { client } = await connectClient(app);
  for (const { replyId, sessionId, due } of seen) {
    const { messages } = await client.call("session.open", { sessionId });
    const reply = messages.find((message) => message.id === replyId);
    if (reply === undefined) throw new Error(`the reply ${replyId} is gone`);
    expect(reply.status).toBe("interrupted");
    expect(textOf(reply).startsWith(due), `of ${due.length} characters, ${textOf(reply).length} are there`).toBe(true);
  }
  client.close();
  expect(await app.close()).toBe(0);
});
