import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ServerFrame } from "../../../../app/contract/channel.ts";
import type { AnyEvent } from "../../../../app/contract/event.ts";
import { createOutbox, type OutboxOptions } from "../../../../main/server/outbox.ts";
import { makeDelta } from "../../contract/double.ts";

/** A page that reads only when told: `read()` takes everything that is under way. */
function slowPage(options: Partial<OutboxOptions> = {}) {
  const received: ServerFrame[] = [];
  let underWay: { text: string; done: () => void }[] = [];
  let overflows = 0;
  const outbox = createOutbox({
    send: (text, done) => underWay.push({ text, done }),
    overflow: () => {
      overflows += 1;
    },
    ...options,
  });
  return {
    outbox,
    received,
    overflows: () => overflows,
    underWay: () => underWay.length,
    read() {
      while (underWay.length > 0) {
        const batch = underWay;
        underWay = [];
        for (const { text, done } of batch) {
          received.push(JSON.parse(text));
          done();
        }
      }
    },
  };
}

const removed: AnyEvent = { name: "session.removed", payload: { sessionId: "s" } };

describe("outbox", () => {
  test("a fast page gets every delta by itself", () => {
    const page = slowPage();
    for (let i = 0; i < 10; i += 1) {
      page.outbox.event(makeDelta(i, "x"));
      page.read();
    }
    expect(page.received).toHaveLength(10);
  });

  test("for a slow page deltas grow together, and no character is lost", () => {
    const page = slowPage({ windowSize: 1 });
    let text = "";
    for (let i = 0; i < 500; i += 1) {
      page.outbox.event(makeDelta(text.length, `${i} `));
      text += `${i} `;
    }
    expect(page.underWay()).toBe(1);
    page.read();
    expect(page.received).toHaveLength(2);
    const deltas = page.received.map((frame) => (frame as { event: ReturnType<typeof makeDelta> }).event.payload);
    expect(deltas.map((delta) => delta.text).join("")).toBe(text);
    expect(deltas[1]?.offset).toBe(deltas[0]?.text.length);
    expect(deltas[1]?.tokens).toBe(makeDelta(text.length - 4, "").payload.tokens);
    expect(page.overflows()).toBe(0);
  });

  test("replies and events keep their order, and deltas do not jump over them", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("delta", "reply", "event"), { maxLength: 60 }),
        fc.integer({ min: 1, max: 40 }),
        (kinds, window) => {
          const page = slowPage({ windowSize: window });
          const expected: string[] = [];
          let offset = 0;
          for (const [id, kind] of kinds.entries()) {
            if (kind === "reply") page.outbox.reply({ type: "reply", id, reply: {} });
            else if (kind === "event") page.outbox.event(removed);
            else page.outbox.event(makeDelta(offset++, "x"));
            expected.push(kind === "reply" ? `reply ${id}` : kind === "event" ? "event" : "x");
          }
          page.read();
          const seen = page.received.flatMap((frame) => {
            if (frame.type !== "event") return [`reply ${frame.id}`];
            if (frame.event.name !== "message.delta") return ["event"];
            return [...(frame.event.payload as { text: string }).text];
          });
          expect(seen).toEqual(expected);
        },
      ),
    );
  });

  test("a page that never reads is told to start anew, once, and then costs nothing", () => {
    const page = slowPage({ windowSize: 1, eventLimit: 100 });
    for (let i = 0; i < 1000; i += 1) page.outbox.event(removed);
    expect(page.overflows()).toBe(1);
    page.read();
    expect(page.received).toHaveLength(1);
  });

  test("the limit holds for merged text, too", () => {
    const page = slowPage({ windowSize: 1, characterLimit: 1000 });
    for (let i = 0; i < 1200; i += 1) page.outbox.event(makeDelta(i, "x"));
    expect(page.overflows()).toBe(1);
  });

  test("a large reply under way does not count against the events", () => {
    const page = slowPage({ windowSize: 10, characterLimit: 1000 });
    page.outbox.reply({ type: "reply", id: 1, reply: "y".repeat(100_000) });
    page.outbox.reply({ type: "reply", id: 2, reply: "z".repeat(100_000) });
    page.outbox.event(makeDelta(0, "x"));
    expect(page.overflows()).toBe(0);
    page.read();
    expect(page.received.map((frame) => frame.type)).toEqual(["reply", "reply", "event"]);
  });
});
