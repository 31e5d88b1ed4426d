/** One suite over both transports: what a page may rely on, whichever way it talks to main. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../../../app/contract/client.ts";
import type { AnyEvent } from "../../../app/contract/event.ts";
import { HalogenError } from "../../../app/error.ts";
import { createDouble, type Double, info, makeDelta, makeSession } from "./double.ts";
import { type Opened, transports } from "./transport.ts";

async function failure(promise: Promise<unknown>): Promise<HalogenError> {
  const error = await promise.then(
    () => new Error("the call succeeded"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HalogenError);
  return error as HalogenError;
}

function next(client: Client, name: AnyEvent["name"]): Promise<unknown> {
  return new Promise((resolve) => {
    const stop = client.on(name, (payload) => {
      stop();
      resolve(payload);
    });
  });
}

describe.each(transports)("contract over $name", (transport) => {
  let double: Double;
  let opened: Opened;
  let client: Client;

  beforeEach(async () => {
    double = createDouble();
    opened = await transport.open(double.service);
    client = opened.client;
  });
  afterEach(async () => opened.close());

  test("a call reaches its handler and its reply comes back whole", async () => {
    double.set("app.info", async () => info);
    expect(await client.call("app.info", {})).toEqual(info);
    double.set("session.create", async () => makeSession("s1"));
    expect(await client.call("session.create", { system: "“quoted”\n\u0000😀" })).toEqual(makeSession("s1"));
    expect(double.seen).toEqual([
      { name: "app.info", request: {} },
      { name: "session.create", request: { system: "“quoted”\n\u0000😀" } },
    ]);
  });

  test("an error keeps code, message, hint and numbers", async () => {
    const thrown = new HalogenError("context.exceeded", "5000 tokens do not fit into 2048.", {
      hint: "Choose a larger context.",
      detail: { tokens: 5000, limit: 2048, fits: false, policy: null },
    });
    double.set("session.open", async () => {
      throw thrown;
    });
    const error = await failure(client.call("session.open", { sessionId: "s" }));
    expect({ ...error, message: error.message }).toEqual({ ...thrown, message: thrown.message });
  });

  test("a fault that is not ours arrives as internal with its message", async () => {
    double.set("session.list", async () => {
      throw new TypeError("x is not a function");
    });
    const error = await failure(client.call("session.list", {}));
    expect([error.code, error.message]).toEqual(["internal", "x is not a function"]);
  });

  test("an unknown call is refused by name", async () => {
    const error = await failure(client.call("session.explode" as never, {} as never));
    expect(error.code).toBe("transport.unknown_call");
    expect(error.message).toContain("session.explode");
    for (const name of ["__proto__", "constructor", "toString", ""]) {
      expect((await failure(client.call(name as never, {} as never))).code).toBe("transport.unknown_call");
    }
  });

  test("a request that breaks its schema names path, expectation and value, and reaches no handler", async () => {
    const wrongType = await failure(client.call("session.open", { sessionId: 7 } as never));
    expect(wrongType.code).toBe("request.invalid");
    expect(wrongType.detail).toMatchObject({ path: "sessionId", found: "7" });
    expect(String(wrongType.detail.expected)).toMatch(/string/);

    const missing = await failure(client.call("session.open", {} as never));
    expect(missing.detail).toMatchObject({ path: "sessionId", found: "undefined" });

    const extra = await failure(client.call("session.list", { more: 1 } as never));
    expect(extra.code).toBe("request.invalid");
    expect(extra.message).toContain("more");

    const nested = await failure(client.call("session.update", { sessionId: "s", sampling: { topP: 3 } }));
    expect(nested.detail).toMatchObject({ path: "sampling.topP", found: "3" });
    expect(double.seen).toEqual([]);
  });

  test("a text beyond the limit is refused with the numbers, and not echoed", async () => {
    const text = "x".repeat(8_000_001);
    const error = await failure(client.call("chat.send", { sessionId: "s", parentId: null, text }));
    expect(error.code).toBe("request.invalid");
    expect(error.message).toContain("8000000");
    expect(error.message).toContain("8000001");
    expect(error.message.length).toBeLessThan(400);
    expect(double.seen).toEqual([]);
  });

  test("the largest allowed text goes through, also in three-byte characters", async () => {
    const text = "模".repeat(8_000_000);
    double.set("session.create", async () => makeSession("s1"));
    expect((await client.call("session.create", { system: text })).id).toBe("s1");
    const received = double.seen[0]?.request as { system: string } | undefined;
    // Not toBe: a failure would print the text.
    expect(received?.system === text).toBe(true);
  });

  test("a reply that breaks its schema is our fault and says where", async () => {
    double.set("app.info", async () => ({ ...info, shell: "telnet" }) as never);
    const error = await failure(client.call("app.info", {}));
    expect(error.code).toBe("internal");
    expect(error.message).toContain("shell");
  });

  test("calls may overlap and each gets its own answer", async () => {
    const release: (() => void)[] = [];
    double.set("session.open", ({ sessionId }) => {
      return new Promise((resolve) => {
        release.push(() => resolve({ session: makeSession(sessionId), messages: [] }));
      });
    });
    double.set("app.info", async () => info);
    const slow = ["a", "b", "c"].map((sessionId) => client.call("session.open", { sessionId }));
    expect(await client.call("app.info", {})).toEqual(info);
    for (const run of release.reverse()) run();
    expect((await Promise.all(slow)).map((document) => document.session.id)).toEqual(["a", "b", "c"]);
  });

  test("events arrive in order, to their own listeners only, until these stop", async () => {
    const texts: string[] = [];
    const stop = client.on("message.delta", (delta) => texts.push(delta.text));
    client.on("session.changed", () => texts.push("wrong listener"));
    const done = next(client, "session.removed");
    for (let i = 0; i < 100; i += 1) double.emit(makeDelta(i, String(i % 10)));
    double.emit({ name: "session.removed", payload: { sessionId: "s" } });
    expect(await done).toEqual({ sessionId: "s" });
    expect(texts.join("")).toBe("0123456789".repeat(10));
    stop();
    const after = next(client, "session.removed");
    double.emit(makeDelta(100, "late"));
    double.emit({ name: "session.removed", payload: { sessionId: "s" } });
    await after;
    expect(texts.join("")).not.toContain("late");
  });

  test("an event sent before a reply is seen before that reply", async () => {
    const order: string[] = [];
    client.on("session.changed", () => order.push("event"));
    double.set("session.create", async () => {
      double.emit({ name: "session.changed", payload: makeSession("s") });
      return makeSession("s");
    });
    for (let i = 0; i < 20; i += 1) await client.call("session.create", {}).then(() => order.push("reply"));
    expect(order).toEqual(Array.from({ length: 20 }, () => ["event", "reply"]).flat());
  });

  test("an event that breaks its schema becomes a notice, and the next one still comes", async () => {
    const notice = next(client, "notice");
    double.emit({ name: "session.removed", payload: { sessionId: 9 } } as never);
    expect(await notice).toMatchObject({ level: "error", message: expect.stringContaining("session.removed") });
    const later = next(client, "session.removed");
    double.emit({ name: "session.removed", payload: { sessionId: "s" } });
    expect(await later).toEqual({ sessionId: "s" });
  });

  test("a listener of the connection is told that it is open", async () => {
    const states: string[] = [];
    client.onConnection((state) => states.push(state));
    double.set("app.info", async () => info);
    await client.call("app.info", {});
    expect(states).toEqual(["open"]);
  });

  test("after close every call is refused", async () => {
    client.close();
    expect((await failure(client.call("app.info", {}))).code).toBe("transport.closed");
  });
});
