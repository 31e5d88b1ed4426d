/** The threads that make masks: order, limits, and what is lost with one. Threads are played, except where it says so. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { HalogenError } from "../../../../app/error.ts";
import type { GrammarRequest } from "../../../../native/grammar/compiler.ts";
import { createGrammarLane, type GrammarThread } from "../../../../native/grammar/lane.ts";
import type { FromWorker, ToWorker } from "../../../../native/grammar/message.ts";
import { createGrammarService } from "../../../../native/grammar/service.ts";
import { endlessSchema } from "../../../fixtures/endless-schema.ts";
import { byteVocabulary } from "../../app/token/vocabulary.ts";

const request: GrammarRequest = { source: { kind: "regex", source: "a*" }, thought: null, written: "", stops: [] };

interface Played extends GrammarThread {
  sent: ToWorker[];
  say(message: FromWorker): void;
  gone(error?: Error): void;
  killed: boolean;
  held: boolean;
}

function stage() {
  const threads: Played[] = [];
  const spawn = async (): Promise<GrammarThread> => {
    let hear: (message: FromWorker) => void = () => undefined;
    let leave: (error: Error | null) => void = () => undefined;
    const thread: Played = {
      sent: [],
      killed: false,
      held: true,
      post: (message) => thread.sent.push(message),
      onMessage: (handler) => {
        hear = handler;
      },
      onGone: (handler) => {
        leave = handler;
      },
      hold: (held) => {
        thread.held = held;
      },
      kill: () => {
        thread.killed = true;
        leave(null);
      },
      say: (message) => hear(message),
      gone: (error) => leave(error ?? null),
    };
    threads.push(thread);
    return thread;
  };
  const settled = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  return { threads, spawn, settled };
}

const offer = (id: number, word: number): FromWorker => ({ kind: "offer", id, offer: Uint32Array.of(word) });
const ready: FromWorker = { kind: "ready", endTokens: [7] };
const failed = (promise: Promise<unknown>): Promise<HalogenError> =>
  promise.then(
    () => {
      throw new Error("it did not fail");
    },
    (error) => error as HalogenError,
  );

afterEach(() => vi.useRealTimers());

describe("a lane", () => {
  test("works for one reply after the other, and holds the process only meanwhile", async () => {
    const { threads, spawn, settled } = stage();
    const lane = createGrammarLane(spawn);
    const [one, two] = [lane.open(request), lane.open(request)];
    const results = [one.start(), two.start()];
    await settled();
    const thread = threads[0] as Played;
    expect(thread.sent).toEqual([]);
    thread.say(ready);
    await settled();
    expect(thread.sent.map(({ kind, id }) => [kind, id])).toEqual([["start", 1]]);
    expect(thread.held).toBe(true);
    thread.say(offer(1, 5));
    await settled();
    expect(thread.sent.map(({ kind, id }) => [kind, id])).toEqual([
      ["start", 1],
      ["start", 2],
    ]);
    thread.say(offer(2, 6));
    expect((await Promise.all(results)).map((each) => each?.[0])).toEqual([5, 6]);
    expect(thread.held).toBe(false);
    expect(await lane.endTokens()).toEqual([7]);
  });

  test("whose thread is lost loses the reply it worked for; others go on in another from where they were", async () => {
    const { threads, spawn, settled } = stage();
    const lane = createGrammarLane(spawn);
    const [one, two] = [lane.open(request), lane.open(request)];
    const first = one.start();
    await settled();
    threads[0]?.say(ready);
    await settled();
    threads[0]?.say(offer(1, 1));
    await first;
    const more = one.accept(41);
    await settled();
    threads[0]?.say(offer(1, 2));
    await more;

    const broken = two.start();
    await settled();
    const again = one.accept(42);
    threads[0]?.gone(new Error("out of memory"));
    const error = await failed(broken);
    expect([error.code, error.message]).toEqual(["internal", "The grammar's thread was lost: out of memory"]);
    two.end();
    await settled();
    threads[1]?.say(ready);
    await settled();
    expect(threads[1]?.sent).toEqual([{ kind: "start", id: 1, request, tokens: [41, 42] }]);
    threads[1]?.say(offer(1, 3));
    expect((await again)?.[0]).toBe(3);
    const next = lane.open(request).start();
    await settled();
    threads[1]?.say(offer(3, 4));
    expect((await next)?.[0]).toBe(4);
    expect(threads).toHaveLength(2);
  });

  test("ends what takes too long, and sooner what nobody waits for", async () => {
    vi.useFakeTimers();
    const { threads, spawn, settled } = stage();
    const lane = createGrammarLane(spawn, { work: 10_000, unwanted: 500 });
    const slow = failed(lane.open(request).start());
    await settled();
    threads[0]?.say(ready);
    await settled();
    vi.advanceTimersByTime(9_999);
    expect(threads[0]?.killed).toBe(false);
    vi.advanceTimersByTime(1);
    const error = await slow;
    expect([error.code, error.detail, threads[0]?.killed]).toEqual(["grammar.unsupported", { seconds: 10 }, true]);

    const left = lane.open(request);
    const leaving = failed(left.start());
    const waits = lane.open(request).start();
    await settled();
    threads[1]?.say(ready);
    await settled();
    left.end();
    expect((await leaving).code).toBe("request.cancelled");
    vi.advanceTimersByTime(500);
    expect(threads[1]?.killed).toBe(true);
    await settled();
    threads[2]?.say(ready);
    await settled();
    threads[2]?.say(offer(3, 9));
    expect((await waits)?.[0]).toBe(9);
  });

  test("gives work up that is not begun when its reply ends, and everything when it is closed", async () => {
    const { threads, spawn, settled } = stage();
    const lane = createGrammarLane(spawn);
    const [one, two] = [lane.open(request), lane.open(request)];
    const first = failed(one.start());
    const second = failed(two.start());
    await settled();
    threads[0]?.say(ready);
    await settled();
    two.end();
    expect((await second).code).toBe("request.cancelled");
    expect(threads[0]?.sent).toHaveLength(1);
    lane.close();
    expect((await first).code).toBe("request.cancelled");
    expect(threads[0]?.killed).toBe(true);
    expect((await failed(lane.open(request).start())).code).toBe("model.not_loaded");
  });

  test("prepared before it is needed, starts one thread, in which the first reply begins at once", async () => {
    const { threads, spawn, settled } = stage();
    const lane = createGrammarLane(spawn);
    lane.prepare();
    await settled();
    threads[0]?.say(ready);
    lane.prepare();
    await settled();
    expect([threads.length, threads[0]?.sent, threads[0]?.held]).toEqual([1, [], false]);
    const first = lane.open(request).start();
    await settled();
    expect(threads[0]?.sent.map(({ kind, id }) => [kind, id])).toEqual([["start", 1]]);
    threads[0]?.say(offer(1, 5));
    expect((await first)?.[0]).toBe(5);
    expect(threads).toHaveLength(1);
  });

  test("closed while its thread is made ready, ends that thread, and who waits for it is told nothing of a fault", async () => {
    const { threads, spawn, settled } = stage();
    const lane = createGrammarLane(spawn);
    lane.prepare();
    const waits = failed(lane.endTokens());
    await settled();
    lane.close();
    expect([threads[0]?.killed, (await waits).code]).toEqual([true, "request.cancelled"]);
    lane.prepare();
    await settled();
    expect(threads).toHaveLength(1);
  });

  test("whose preparation fails says so to the reply that needs it, and not before", async () => {
    const { threads, spawn, settled } = stage();
    const lane = createGrammarLane(spawn);
    const malformed = { code: "tokenizer.malformed", message: "no", hint: "", detail: {} } as const;
    lane.prepare();
    await settled();
    threads[0]?.say({ kind: "unable", error: malformed });
    await settled();
    const first = failed(lane.open(request).start());
    await settled();
    threads[1]?.say({ kind: "unable", error: malformed });
    expect((await first).code).toBe("tokenizer.malformed");
  });

  test("says why its thread cannot begin, and tries again the next time", async () => {
    const { threads, spawn, settled } = stage();
    const lane = createGrammarLane(spawn);
    const first = failed(lane.open(request).start());
    await settled();
    threads[0]?.say({ kind: "unable", error: { code: "tokenizer.malformed", message: "no", hint: "", detail: {} } });
    expect((await first).code).toBe("tokenizer.malformed");
    const second = lane.open(request).start();
    await settled();
    threads[1]?.say(ready);
    await settled();
    threads[1]?.say(offer(2, 1));
    expect((await second)?.[0]).toBe(1);
  });
});

describe("real threads", () => {
  test("leave this one free while a large grammar is compiled, and small ones do not wait for it", async () => {
    const service = createGrammarService(async () => byteVocabulary(["ab", "abc"]));
    try {
      const order: string[] = [];
      const heavy = service.open({ ...request, source: endlessSchema() });
      const compiled = heavy.start().catch((error) => {
        order.push("large");
        throw error;
      });
      const failure = failed(compiled);
      const light = service.open(request);
      await light.start();
      for (let token = 0; token < 20; token++) await light.accept(0x61);
      order.push("small");
      heavy.end();
      expect((await failure).code).toBe("request.cancelled");
      expect(order).toEqual(["small", "large"]);
    } finally {
      service.close();
    }
  });

  test("prepared, have sorted the vocabulary before the first reply, which uses it and gets the same mask", async () => {
    let read = 0;
    const vocabulary = async () => {
      read++;
      return byteVocabulary(["ab", "abc"]);
    };
    const [plain, prepared] = [createGrammarService(vocabulary), createGrammarService(vocabulary)];
    try {
      const expected = await plain.open(request).start();
      expect(read).toBe(1);
      prepared.prepare();
      await prepared.endTokens();
      expect(read).toBe(2);
      prepared.prepare();
      expect(await prepared.open(request).start()).toEqual(expected);
      expect(read).toBe(2);
    } finally {
      plain.close();
      prepared.close();
    }
  });

  test("give the faults of a grammar back, and go on", async () => {
    const service = createGrammarService(async () => byteVocabulary(["ab"]));
    try {
      const deep = `${"(".repeat(60_000)}a${")".repeat(60_000)}`;
      for (const [source, code] of [
        ["(", "grammar.invalid"],
        [deep, "grammar.unsupported"],
      ] as const) {
        const error = await failed(service.open({ ...request, source: { kind: "regex", source } }).start());
        expect([error instanceof HalogenError, error.code]).toEqual([true, code]);
      }
      const session = service.open(request);
      const mask = await session.start();
      expect((mask?.[3] ?? 0) & 2).toBe(2);
      const next = await session.accept(0x61);
      expect((next?.[3] ?? 0) & 2).toBe(2);
      const refused = await failed(session.accept(0x62));
      expect(refused.code).toBe("internal");
    } finally {
      service.close();
    }
  });

  test("come back after one has been lost", async () => {
    let made = 0;
    const service = createGrammarService(async () => {
      made++;
      // The first has tokens that no tokenizer can be made of.
      return made === 1 ? { ...byteVocabulary(["ab"]), types: new Int32Array(3) } : byteVocabulary(["ab"]);
    });
    try {
      expect((await failed(service.open(request).start())).code).toBe("tokenizer.malformed");
      expect(await service.open(request).start()).not.toBe(null);
    } finally {
      service.close();
    }
  });
});
