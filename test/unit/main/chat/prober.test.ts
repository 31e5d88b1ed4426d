/** The thread that looks at templates, with templates that were made to do harm. */
import { join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createProber, type Prober, type ProberOptions } from "../../../../main/chat/prober.ts";
import { inlineProber } from "./harness.ts";

const entry = join(resolve(import.meta.dirname, "../../../.."), "main/chat/probe-thread.ts");
const switched =
  "{% for m in messages %}{{ m.content }}{% endfor %}{% if enable_thinking %}<think>{% else %}<think></think>{% endif %}";
const doubled = (start: string, join: string) =>
  `{% set ns = namespace(x=${start}) %}{% for i in range(99) %}{% set ns.x = ns.x ${join} ns.x %}{% endfor %}{{ ns.x }}`;

let prober: Prober | null = null;
const open = (options: Partial<ProberOptions> = {}): Prober => {
  prober = createProber({ entry, ...options });
  return prober;
};
afterEach(() => prober?.close());

describe("the thread that looks at templates", () => {
  it("finds what a look in this thread finds", async () => {
    const { probe } = open();
    expect(await probe(switched)).toEqual(await inlineProber.probe(switched));
    expect((await probe("{{ raise_exception('never') }}")).works).toBe(false);
    await expect(probe("{% if %}")).rejects.toMatchObject({
      code: "template.failed",
      message: expect.stringMatching(/cannot be read/),
    });
  });

  it("looks at each template once, and leaves this thread free meanwhile", async () => {
    const { probe } = open();
    let turns = 0;
    let done = false;
    const look = probe("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}").finally(() => {
      done = true;
    });
    expect(probe(switched)).toBe(probe(switched));
    while (!done) {
      await new Promise((next) => setImmediate(next));
      turns++;
    }
    // Its own clock stops the loop; a look in this thread would have left no turn.
    expect((await look).works).toBe(false);
    expect(turns).toBeGreaterThan(100);
  });

  it("is let go when it has nothing to do, and another one goes on", async () => {
    const { probe } = open({ idle: 0 });
    await probe("a");
    // A timer of the same length that was set later fires later.
    await new Promise((next) => setTimeout(next, 1));
    expect((await probe("b")).works).toBe(true);
  });

  it("is ended when a template never ends in a place where no clock is looked at, and goes on with the next", async () => {
    const { probe } = open({ patience: 1500 });
    // A list in a list, twice, sixty times over: small in memory, and without end when it is written down.
    const endless = `{% set ns = namespace(x=[[]]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x | tojson }}`;
    const [endlessly, next] = await Promise.allSettled([probe(endless), probe(switched)]);
    expect(endlessly).toMatchObject({ status: "rejected", reason: { code: "template.failed" } });
    expect(next).toMatchObject({ status: "fulfilled", value: { works: true } });
  });

  it("refuses what doubles a value until the memory is full", async () => {
    const { probe } = open();
    for (const hostile of [doubled("'ab'", "~"), doubled("[1, 2]", "+")]) {
      const outcome = await probe(hostile).then(
        ({ works }) => works,
        (error: { code: string }) => error.code,
      );
      expect([false, "template.failed"]).toContain(outcome);
    }
    expect((await probe(switched)).works).toBe(true);
  });

  it("cancels what waits when it is closed", async () => {
    const { probe, close } = open();
    const looks = [probe(switched), probe("a")];
    close();
    for (const look of looks) await expect(look).rejects.toMatchObject({ code: "request.cancelled" });
    await expect(probe("b")).rejects.toMatchObject({ code: "request.cancelled" });
  });

  it("says so when there is nothing to run", async () => {
    const { probe } = open({ entry: join(import.meta.dirname, "nowhere.cjs") });
    await expect(probe("a")).rejects.toMatchObject({
      code: "template.failed",
      message: expect.stringMatching(/no thread could be started/),
    });
  });
});
