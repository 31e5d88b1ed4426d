import { describe, expect, it } from "vitest";
import { HalogenError } from "../../../../app/error.ts";
import { harness, replayed, shown } from "./harness.ts";

/** Until it is stopped. */
const endless = [{ pace: 1 }, "word ".repeat(2000)];

describe("one reply at a time in a chat", () => {
  it("a second one is refused, and what is under way goes on", async () => {
    const h = harness({ replies: [["first", { wait: 30 }, " reply"]] });
    const session = h.session();
    const { reply } = await h.send(session, "x");
    await expect(h.send(session, "y")).rejects.toMatchObject({ code: "session.busy" });
    await expect(
      h.chat.handlers["chat.regenerate"]({ sessionId: session.id, messageId: reply.id }),
    ).rejects.toMatchObject({ code: "session.busy" });
    expect(shown(await h.ended(reply.id)).text).toBe("first reply");
    expect(h.store.session(session.id)?.messageCount).toBe(2);
    expect((await h.ask(session, "y")).status).toBe("complete");
  });

  it("the next may be sent as soon as the end is heard of", async () => {
    const heard: Promise<unknown>[] = [];
    const h = harness({
      replies: [["one"], ["two"]],
      onEvent: (event) => {
        if (event.name !== "message.changed" || event.payload.status !== "complete" || heard.length > 0) return;
        if (event.payload.role === "assistant") heard.push(h.send(session, "y"));
      },
    });
    const session = h.session();
    await h.ask(session, "x");
    await expect(Promise.all(heard)).resolves.toHaveLength(1);
  });

  it("two chats go side by side, and the second says that it waits", async () => {
    const h = harness({
      replies: [
        ["a", { wait: 30 }, "A"],
        ["b", { wait: 30 }, "B"],
      ],
    });
    const one = await h.send(h.session(), "x");
    const two = await h.send(h.session(), "y");
    expect(shown(await h.ended(one.reply.id)).text).toBe("aA");
    expect(shown(await h.ended(two.reply.id)).text).toBe("bB");
    const phases = (id: string) =>
      h
        .of("message.progress")
        .filter((each) => each.messageId === id)
        .map((each) => each.phase);
    expect(phases(one.reply.id)).not.toContain("queued");
    expect(phases(two.reply.id)[0]).toBe("queued");
    expect(phases(two.reply.id)).toContain("prefill");
  });
});

describe("stop", () => {
  it("while it streams keeps what was shown", async () => {
    const h = harness({ replies: [endless, ["next"]] });
    const session = h.session();
    const { reply } = await h.send(session, "x");
    await h.until("message.delta", (delta) => delta.messageId === reply.id && delta.offset > 0);
    await h.chat.handlers["chat.stop"]({ sessionId: session.id });
    const stopped = h.store.message(reply.id);
    expect(stopped).toMatchObject({ status: "stopped", error: null });
    expect(shown(stopped ?? reply).text).toBe(replayed(h.events, reply.id).join(""));
    // Two deltas were seen, of one byte each at least: how much more there is, is a matter of time.
    expect(shown(stopped ?? reply).text).toMatch(/^wo/);
    expect(h.engine.counters.cancelled).toBe(1);
    expect(h.chat.running(session.id)).toBe(false);
    expect(shown(await h.ask(session, "y")).text).toBe("next");
  });

  it("while the model loads ends the load", async () => {
    const h = harness({ load: { steps: 1000, pace: 20 } });
    const session = h.session();
    const { reply } = await h.send(session, "x");
    await h.until("message.progress", (each) => each.phase === "load" && each.done > 0);
    await h.chat.stop(session.id);
    expect(h.store.message(reply.id)).toMatchObject({ status: "stopped", error: null, blocks: [] });
    expect(h.leases).toEqual({ taken: 0, released: 0 });
  });

  it("while a library hears nothing ends all the same, and gives a late model back", async () => {
    let arrive: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const h = harness({
      wrapLibrary: (library) => ({ ...library, acquire: async (id) => gate.then(() => library.acquire(id, {})) }),
    });
    const session = h.session();
    const { reply } = await h.send(session, "x");
    await h.chat.stop(session.id);
    expect(h.store.message(reply.id)?.status).toBe("stopped");
    arrive();
    await expect.poll(() => h.leases).toEqual({ taken: 1, released: 1 });
  });

  it("in the prefill", async () => {
    const h = harness({ prefillPace: 50 });
    const session = h.session();
    const { reply } = await h.send(session, "word ".repeat(100));
    await h.until("message.progress", (each) => each.phase === "load" && each.done === each.total);
    await expect.poll(() => h.engine.requests.length).toBe(1);
    await h.chat.stop(session.id);
    expect(h.store.message(reply.id)).toMatchObject({ status: "stopped", blocks: [] });
  });

  it("when the engine hears nothing", async () => {
    const h = harness({ replies: [["some", { hang: "deaf" }], ["next"]] });
    const session = h.session();
    const { reply } = await h.send(session, "x");
    await h.until("message.delta", (delta) => delta.offset > 0);
    await h.chat.stop(session.id);
    expect(h.store.message(reply.id)).toMatchObject({ status: "stopped", blocks: [{ type: "text", text: "some" }] });
    expect(shown(await h.ask(session, "y")).text).toBe("next");
  });

  it("before anything, twice, and when nothing runs", async () => {
    const h = harness({ replies: [endless] });
    const session = h.session();
    const { reply } = await h.send(session, "x");
    await Promise.all([h.chat.stop(session.id), h.chat.stop(session.id)]);
    expect(h.store.message(reply.id)?.status).toBe("stopped");
    await h.chat.stop(session.id);
    await h.chat.stop("none");
  });
});

describe("a chat template", () => {
  it("that was found to do harm ends the reply with the reason, and is never run", async () => {
    const prober = {
      probe: async () => {
        throw new HalogenError("template.failed", "it did not end within 6 seconds");
      },
    };
    const h = harness({ prober, template: "{% for m in messages %}{{ m.content }}{% endfor %}" });
    const reply = await h.ask(h.session(), "x");
    expect(reply).toMatchObject({
      status: "failed",
      error: { code: "template.failed", message: expect.stringContaining("6 seconds") },
    });
    expect([h.engine.requests, h.leases]).toEqual([[], { taken: 1, released: 1 }]);
  });
});

describe("close", () => {
  it("stores what streams as interrupted, and takes no more", async () => {
    const h = harness({ replies: [endless] });
    const session = h.session();
    const { reply } = await h.send(session, "x");
    await h.until("message.delta", (delta) => delta.offset > 4);
    await h.chat.close();
    expect(h.store.message(reply.id)).toMatchObject({ status: "interrupted" });
    expect(shown(h.store.message(reply.id) ?? reply).text).toMatch(/^word/);
    await expect(h.send(session, "y")).rejects.toMatchObject({ code: "request.cancelled" });
  });
});

describe("an engine that dies", () => {
  it("leaves the reply as far as it got, and the next message works", async () => {
    const crash = { fail: { code: "engine.crashed", message: "the engine process ended", hint: "again" } } as const;
    const h = harness({ replies: [["half a re", crash], ["ply"], ["fine"]] });
    const session = h.session();
    const reply = await h.ask(session, "x");
    expect(reply).toMatchObject({
      status: "interrupted",
      error: { code: "engine.crashed", hint: "again" },
      blocks: [{ type: "text", text: "half a re" }],
    });
    await h.chat.handlers["chat.continue"]({ sessionId: session.id, messageId: reply.id });
    expect(await h.ended(reply.id)).toMatchObject({
      status: "complete",
      error: null,
      blocks: [{ type: "text", text: "half a reply" }],
    });
    expect(shown(await h.ask(session, "y")).text).toBe("fine");
    expect(h.leases.released).toBe(h.leases.taken);
  });

  it("loses nothing that was held back as a possible tag or stop string", async () => {
    const crash = { fail: { code: "engine.crashed", message: "gone" } } as const;
    const h = harness({
      replies: [
        ["<think>a </thi", crash],
        [{ bytes: [0x78, 0xf0, 0x9f] }, crash],
      ],
    });
    const first = await h.ask(h.session(), "x");
    expect(shown(first).reasoning).toBe("a </thi");
    expect(replayed(h.events, first.id)).toEqual(["a </thi"]);
    expect(shown(await h.ask(h.session(), "y")).text).toBe("x\uFFFD");
  });

  it("and a stop string takes only itself away", async () => {
    const h = harness({
      template: null,
      replies: [["<think>a </thi\nUser: b"]],
      wrapEngine: (engine) => ({
        generate: engine.generate,
        vocabulary: async (path) => {
          const vocabulary = await engine.vocabulary(path);
          return {
            ...vocabulary,
            types: vocabulary.types.map((type) => (type === 3 ? 5 : type)),
            special: { eos: 258 },
          };
        },
      }),
    });
    expect(shown(await h.ask(h.session(), "x")).reasoning).toBe("a </thi");
  });

  it("leaves no numbers of an earlier run to a reply that has grown since", async () => {
    const crash = { fail: { code: "engine.crashed", message: "gone" } } as const;
    const h = harness({ replies: [["one", { stop: "length" }], [crash], [" two", crash]] });
    const session = h.session();
    const cut = await h.ask(session, "x");
    const goOn = async () => {
      await h.chat.handlers["chat.continue"]({ sessionId: session.id, messageId: cut.id });
      return h.ended(cut.id);
    };
    expect((await goOn()).stats).toEqual(cut.stats);
    expect((await goOn()).stats).toBeNull();
  });

  it("while it reads the vocabulary does not spoil the next message", async () => {
    let calls = 0;
    const h = harness({
      replies: [["fine"]],
      wrapEngine: (engine) => ({
        generate: engine.generate,
        vocabulary: async (path) => {
          if (calls++ === 0) throw new HalogenError("engine.crashed", "gone");
          return engine.vocabulary(path);
        },
      }),
    });
    const session = h.session();
    expect(await h.ask(session, "x")).toMatchObject({ status: "interrupted", error: { code: "engine.crashed" } });
    expect(await h.ask(session, "y")).toMatchObject({ status: "complete" });
    await h.ask(session, "z");
    expect(calls).toBe(2);
  });
});

describe("a model that cannot be loaded", () => {
  it("fails the reply with the reason, and the chat stays usable", async () => {
    const h = harness({
      load: { fail: new HalogenError("memory.exhausted", "12 GiB are missing", { hint: "smaller" }) },
    });
    const session = h.session();
    const reply = await h.ask(session, "x");
    expect(reply).toMatchObject({ status: "failed", error: { code: "memory.exhausted", hint: "smaller" } });
    expect((await h.ask(session, "y")).status).toBe("failed");
  });
});

describe("the context", () => {
  it("is checked before generating, with the numbers", async () => {
    const h = harness({ contextLength: 100 });
    const session = h.session();
    const reply = await h.ask(session, "x".repeat(300));
    expect(reply.status).toBe("failed");
    expect(reply.error).toMatchObject({
      code: "context.exceeded",
      detail: { promptTokens: 319, contextLength: 100, over: 220 },
    });
    expect(reply.error?.message).toBe("The conversation has 319 tokens, but the context holds 100: 220 too many");
    expect(h.engine.requests).toHaveLength(0);
  });

  it("refuses megabytes without tokenising them", async () => {
    const h = harness({ contextLength: 100 });
    // The longest token of this vocabulary is <|endoftext|>.
    const reply = await h.ask(h.session(), "x".repeat(5_000_000));
    expect(reply.error?.detail).toMatchObject({ promptTokens: Math.ceil(5_000_050 / 13), exact: false });
    expect(reply.error?.message).toMatch(/^The conversation has at least 384,6\d\d tokens/);
  });

  it("fits to the last token: one less than its length may be the prompt", async () => {
    const h = harness({ contextLength: 40, replies: [["ab"]] });
    // 19 tokens are markup.
    const fits = await h.ask(h.session(), "x".repeat(20));
    expect(fits.stats?.promptTokens).toBe(39);
    expect(fits.error?.message).toBe("The context is full: 40 of 40 tokens");
    expect((await h.ask(h.session(), "x".repeat(21))).error?.detail).toMatchObject({ promptTokens: 40, over: 1 });
  });

  it("that ends in a reply is said, and what there is stays", async () => {
    const h = harness({ contextLength: 60, replies: [["word ".repeat(50)]] });
    const session = h.session();
    const reply = await h.ask(session, "x".repeat(20));
    expect(reply).toMatchObject({
      status: "length",
      error: { code: "context.exceeded", detail: { contextLength: 60 } },
    });
    expect(shown(reply).text).toBe("word word word word w");
    expect((await h.ask(session, "more")).status).toBe("failed");
  });

  it("says how much larger it can be made", async () => {
    const h = harness({ contextLength: 50, inspection: { contextLength: 4096 } });
    expect((await h.ask(h.session(), "x".repeat(60))).error?.hint).toContain("4,096");
  });
});

describe("a template that refuses", () => {
  const refusing =
    "{% if messages[0].role != 'user' %}{{ raise_exception('Conversation must start with a user turn') }}{% endif %}{% for m in messages %}{{ m.content }}{% endfor %}";

  it("is quoted, and the chat stays usable", async () => {
    const h = harness({ template: "{{ raise_exception('No user query found in messages.') }}" });
    const session = h.session();
    const reply = await h.ask(session, "x");
    expect(reply).toMatchObject({ status: "failed", error: { code: "template.failed" } });
    expect(reply.error?.message).toContain("No user query found in messages.");
    expect((await h.ask(session, "y")).error?.code).toBe("template.failed");
  });

  it("a system text gets it with the first question instead", async () => {
    const h = harness({ template: refusing, replies: [["ok"]] });
    expect((await h.ask(h.session({ system: "Be brief." }), "x")).status).toBe("complete");
    expect(h.prompts()).toEqual(["Be brief.\n\nx"]);
  });
});

describe("a model without a template", () => {
  it("is talked to in ChatML when it knows that, and the user is told once", async () => {
    const h = harness({ template: null, replies: [["ok"]] });
    const session = h.session();
    await h.ask(session, "x");
    await h.ask(session, "y");
    expect(h.prompts()[0]).toBe("<|im_start|>user\nx<|im_end|>\n<|im_start|>assistant\n");
    expect(h.of("notice")).toHaveLength(1);
  });

  it("is talked to in plain words otherwise; the next speaker's name ends the reply", async () => {
    const h = harness({
      template: null,
      replies: [[" fine.\nUs", "ual.\nUser", ": more of it"]],
      wrapEngine: (engine) => ({
        generate: engine.generate,
        // Without the markup of ChatML.
        vocabulary: async (path) => {
          const vocabulary = await engine.vocabulary(path);
          return {
            ...vocabulary,
            types: vocabulary.types.map((type) => (type === 3 ? 5 : type)),
            special: { eos: 258 },
          };
        },
      }),
    });
    const reply = await h.ask(h.session({ system: "S" }), "x");
    expect(h.prompts()[0]).toBe("S\n\nUser: x\n\nAssistant:");
    expect(shown(reply).text).toBe(" fine.\nUsual.");
    expect(reply.status).toBe("complete");
    for (const delta of h.of("message.delta")) expect(delta.text).not.toContain("User");
  });
});

describe("a store that fails", () => {
  it("ends the reply with its reason, and the app goes on", async () => {
    let full = false;
    const h = harness({
      replies: [endless, ["fine"]],
      wrapStore: (store) => ({
        ...store,
        updateMessage: (message) => {
          if (full) throw new HalogenError("store.disk_full", "the disk is full");
          store.updateMessage(message);
        },
      }),
    });
    const session = h.session();
    const { reply } = await h.send(session, "x");
    await h.until("message.delta");
    full = true;
    const failed = await h.until(
      "message.changed",
      (message) => message.id === reply.id && message.status === "failed",
    );
    expect(failed.error?.code).toBe("store.disk_full");
    full = false;
    await h.chat.stop(session.id);
    expect((await h.ask(session, "y")).status).toBe("complete");
  });
});

describe("flushing", () => {
  it("stores a streaming reply as it grows", async () => {
    const h = harness({ replies: [["begun", { hang: "cancellable" }]] });
    const session = h.session();
    const { reply } = await h.send(session, "x");
    await expect.poll(() => shown(h.store.message(reply.id) ?? reply).text).toBe("begun");
    expect(h.store.message(reply.id)?.status).toBe("streaming");
    await h.chat.stop(session.id);
  });
});
