import { describe, expect, it } from "vitest";
import { createTokenizer } from "../../../../app/token/tokenizer.ts";
import { packStrings } from "../../../fixtures/scripted-engine-vocabulary.ts";
import { harness, replayed, shown, treeOf } from "./harness.ts";

describe("a turn", () => {
  it("stores what was said, streams it, and names the chat", async () => {
    const h = harness({ replies: [["Hello ", "you."]] });
    const session = h.session({ system: "Be brief." });
    const { user, reply } = await h.send(session, "Hi there\nsecond line");
    expect(user).toMatchObject({ role: "user", parentId: null, status: "complete" });
    expect(reply).toMatchObject({ role: "assistant", parentId: user.id, status: "streaming", modelName: "Scripted" });
    const done = await h.ended(reply.id);
    expect(done).toMatchObject({ status: "complete", error: null, blocks: [{ type: "text", text: "Hello you." }] });
    expect(h.prompts()).toEqual([
      "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi there\nsecond line<|im_end|>\n<|im_start|>assistant\n",
    ]);
    expect(replayed(h.events, reply.id)).toEqual(["Hello you."]);
    expect(h.store.session(session.id)).toMatchObject({
      title: "Hi there",
      titled: false,
      headId: reply.id,
      messageCount: 2,
    });
    expect(h.leases).toEqual({ taken: 1, released: 1 });
  });

  it("keeps the numbers of each reply with it", async () => {
    const h = harness({ replies: [["one"], ["three more words"]] });
    const a = h.session();
    const b = h.session();
    const first = await h.ask(a, "x");
    const second = await h.ask(b, "yy");
    const [promptA, promptB] = h.engine.requests.map((request) => request.tokens.length);
    expect(first.stats).toMatchObject({ promptTokens: promptA, generatedTokens: 3, reused: 0, recomputed: promptA });
    expect(second.stats?.promptTokens).toBe(promptB);
    expect(second.stats?.generatedTokens).toBe(16);
    expect((second.stats?.reused ?? 0) + (second.stats?.recomputed ?? 0)).toBe(promptB);
    expect(h.store.message(first.id)?.stats).toEqual(first.stats);
  });

  it("gives the model the whole branch and nothing beside it", async () => {
    const h = harness({ replies: [["<think>hm</think>A"], ["B"], ["C"]] });
    const session = h.session();
    const first = await h.ask(session, "one");
    await h.ask(session, "two");
    await h.chat.handlers["chat.send"]({ sessionId: session.id, parentId: first.id, text: "other" });
    await h.until("message.changed", (message) => message.status === "complete" && shown(message).text === "C");
    expect(h.prompts()[2]).toBe(
      "<|im_start|>user\none<|im_end|>\n<|im_start|>assistant\nA<|im_end|>\n<|im_start|>user\nother<|im_end|>\n<|im_start|>assistant\n",
    );
  });

  it("asks the template to think or not, and leaves what the user wrote alone", async () => {
    const h = harness({ replies: [["x"]] });
    await h.ask(h.session({ sampling: { thinking: false } }), "x");
    await h.ask(h.session({ sampling: { thinking: true } }), "x");
    // A level that this template does not have.
    await h.ask(h.session({ sampling: { effort: "high" } }), "x");
    const head = "<|im_start|>user\nx<|im_end|>\n<|im_start|>assistant\n";
    expect(h.prompts()).toEqual([`${head}<think>\n\n</think>\n\n`, head, head]);
  });

  it("gives the model its earlier thoughts where the chat asks for it, under the name that its template reads", async () => {
    const template =
      "{% for m in messages %}{{ m.role }}:{% if m.thinking and preserve_thinking %}<think>{{ m.thinking }}</think>{% endif %}{{ m.content }};{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}";
    const prompts: string[] = [];
    for (const keepThoughts of [null, true, false]) {
      const h = harness({ replies: [["<think>hm</think>A"], ["B"]], template });
      const session = h.session({ sampling: { keepThoughts } });
      await h.ask(session, "one");
      await h.ask(session, "two");
      prompts.push(h.prompts().at(-1) ?? "");
    }
    const [plain, kept, dropped] = prompts;
    expect(plain).toBe("user:one;assistant:A;user:two;assistant:");
    expect(kept).toBe("user:one;assistant:<think>hm</think>A;user:two;assistant:");
    expect(dropped).toBe(plain);
  });

  it("uses the chat's sampling over the model's", async () => {
    const h = harness({ replies: [["x"]] });
    await h.ask(h.session({ sampling: { temperature: 0, seed: 7, maxTokens: 5 } }), "x");
    expect(h.engine.requests[0]).toMatchObject({
      sampling: { temperature: 0, topK: 40, topP: 0.9, minP: 0.05, seed: 7 },
      maxTokens: 5,
    });
  });

  it("keeps double braces and markup byte for byte, also in the history", async () => {
    const text = "```\n{{ name }} {% if x %} &amp; <b>\\n\n```";
    const h = harness({ replies: [[{ ordinary: text }], ["ok"]] });
    const session = h.session();
    const reply = await h.ask(session, `${text} 1`);
    expect(shown(reply).text).toBe(text);
    await h.ask(session, "next");
    expect(h.prompts()[1]).toContain(`user\n${text} 1<|im_end|>\n<|im_start|>assistant\n${text}<|im_end|>`);
  });
});

describe("bytes", () => {
  it("a character split over tokens is shown whole, and one that never ends is marked", async () => {
    const h = harness({
      ahead: 1,
      replies: [
        [
          { bytes: [0xf0, 0x9f] },
          { bytes: [0x91, 0x8b] },
          " 👩‍👩‍👧‍👦",
          { bytes: [0xff] },
          { bytes: [0xc0, 0x80] },
          "on",
          { bytes: [0xf0, 0x9f] },
        ],
      ],
    });
    const session = h.session();
    const reply = await h.ask(session, "x");
    expect(reply.status).toBe("complete");
    expect(shown(reply).text).toBe("👋 👩‍👩‍👧‍👦\uFFFD\uFFFD\uFFFDon\uFFFD");
    expect(replayed(h.events, reply.id).join("")).toBe(shown(reply).text);
  });

  it("a reply that quotes the end token goes on", async () => {
    const h = harness({ replies: [[{ ordinary: "say <|im_end|> twice: <|im_end|>" }]] });
    const reply = await h.ask(h.session(), "quote <|im_end|> please");
    expect(shown(reply).text).toBe("say <|im_end|> twice: <|im_end|>");
    const tokens = [...(h.engine.requests[0]?.tokens ?? [])];
    // One to end the user's turn; the quoted one is bytes.
    expect(tokens.filter((token) => token === 258)).toHaveLength(1);
  });
});

describe("thinking", () => {
  it("becomes a block of its own, with time and tokens", async () => {
    const h = harness({ replies: [["<think>\nplan\n</think>\n\nhi"]] });
    const reply = await h.ask(h.session(), "x");
    expect(reply.blocks).toMatchObject([
      { type: "reasoning", text: "plan", finished: true },
      { type: "text", text: "hi" },
    ]);
    expect(reply.blocks[0]).toHaveProperty("tokens", expect.any(Number));
    expect(replayed(h.events, reply.id)).toEqual(["plan", "hi"]);
  });

  it("that the template has opened is seen", async () => {
    const template =
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n<think>\n";
    const h = harness({ template, replies: [["plan</think>hi"]] });
    expect(shown(await h.ask(h.session(), "x"))).toEqual({ reasoning: "plan", text: "hi" });
  });

  it("that never ends stays thinking", async () => {
    const h = harness({ replies: [["<think>on and on"]] });
    const reply = await h.ask(h.session(), "x");
    expect(reply.blocks).toMatchObject([{ type: "reasoning", text: "on and on", finished: false }]);
  });

  it.each(["<3 you", "<html></html>"])("is not seen in a reply that begins with %j", async (text) => {
    const h = harness({ replies: [[{ ordinary: text }]] });
    expect(shown(await h.ask(h.session(), "x"))).toEqual({ text, reasoning: "" });
  });

  it("holds tool syntax without more", async () => {
    const h = harness({ replies: [["<think>use <tool_call><function=x></think>ok"]] });
    expect(shown(await h.ask(h.session(), "x"))).toEqual({ reasoning: "use <tool_call><function=x>", text: "ok" });
  });
});

describe("the tree", () => {
  it("regenerate makes a sibling of the reply, edit one of the question", async () => {
    const h = harness({ replies: [["A"], ["B"], ["C"]] });
    const session = h.session();
    const first = await h.ask(session, "question");
    const again = await h.chat.handlers["chat.regenerate"]({ sessionId: session.id, messageId: first.id });
    expect(again.user).toBeNull();
    await h.ended(again.reply.id);
    const edited = await h.chat.handlers["chat.edit"]({
      sessionId: session.id,
      messageId: first.parentId ?? "",
      text: "other",
    });
    await h.ended(edited.reply.id);
    const tree = treeOf(h.store, session.id);
    expect(tree.siblings(first.id).map((each) => each.id)).toEqual([first.id, again.reply.id]);
    expect(tree.children(null).map((each) => each.id)).toEqual([first.parentId, edited.user?.id]);
    expect(h.store.session(session.id)).toMatchObject({ headId: edited.reply.id, messageCount: 5 });
    expect(h.prompts()[1]).toBe(h.prompts()[0]);
  });

  it("names the chat once, and not after the user has", async () => {
    const h = harness({ replies: [["x"]] });
    const session = h.session();
    await h.ask(session, "first words");
    await h.ask(session, "second words");
    expect(h.store.session(session.id)?.title).toBe("first words");
    const first = treeOf(h.store, session.id).children(null)[0];
    const edited = { sessionId: session.id, messageId: first?.id ?? "", text: "other words" };
    await h.ended((await h.chat.handlers["chat.edit"](edited)).reply.id);
    expect(h.store.session(session.id)?.title).toBe("first words");
    const named = h.session();
    h.store.updateSession(named.id, { title: "Mine", titled: true });
    await h.ask(named, "first words");
    expect(h.store.session(named.id)?.title).toBe("Mine");
  });
});

describe("continue", () => {
  it("goes on in the same message, without closing it in the prompt", async () => {
    const h = harness({ replies: [["Once upon", { stop: "length" }], [" a time"]] });
    const session = h.session();
    const cut = await h.ask(session, "x");
    expect(cut).toMatchObject({ status: "length", error: null });
    const { reply } = await h.chat.handlers["chat.continue"]({ sessionId: session.id, messageId: cut.id });
    expect(reply).toMatchObject({ id: cut.id, status: "streaming" });
    const done = await h.ended(cut.id);
    expect(done).toMatchObject({ status: "complete", blocks: [{ type: "text", text: "Once upon a time" }] });
    expect(h.prompts()[1]).toBe(`${h.prompts()[0]}Once upon`);
    expect(h.store.session(session.id)?.messageCount).toBe(2);
    // Prompt and new tokens together are the whole conversation, nothing is counted twice.
    expect(done.stats).toMatchObject({ promptTokens: (cut.stats?.promptTokens ?? 0) + 9, generatedTokens: 7 });
    expect(replayed(h.events, cut.id).join("")).toBe("Once upon a time");
  });

  it("keeps the space between the words, also where the tokenizer puts one before the first", async () => {
    const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
    const h = harness({
      replies: [["Once upon", { stop: "length" }], [" a time"]],
      wrapEngine: (engine) => ({
        ...engine,
        vocabulary: async (path) => {
          const vocabulary = await engine.vocabulary(path);
          const made = createTokenizer(vocabulary);
          const markup = Array.from({ length: made.count - 256 }, (_, index) => made.tokenText(256 + index));
          const types = vocabulary.types.map((type, id) => (id < 256 ? 6 : type));
          return {
            ...vocabulary,
            model: "llama",
            tokens: packStrings([...bytes, ...markup]),
            types,
            scores: new Float32Array(types.length),
            merges: packStrings([]),
          };
        },
      }),
    });
    const session = h.session();
    const cut = await h.ask(session, "x");
    await h.chat.handlers["chat.continue"]({ sessionId: session.id, messageId: cut.id });
    expect(await h.ended(cut.id)).toMatchObject({ error: null });
    expect(shown(await h.ended(cut.id)).text).toBe("Once upon a time");
  });

  it("goes on inside thoughts that were cut", async () => {
    const h = harness({ replies: [["<think>\nstep one", { stop: "length" }], [" and two\n</think>\n\nanswer"]] });
    const session = h.session();
    const cut = await h.ask(session, "x");
    expect(cut.blocks).toMatchObject([{ type: "reasoning", text: "step one", finished: false }]);
    await h.chat.handlers["chat.continue"]({ sessionId: session.id, messageId: cut.id });
    const done = await h.ended(cut.id);
    expect(h.prompts()[1]?.endsWith("assistant\n<think>\nstep one")).toBe(true);
    expect(done.blocks).toMatchObject([
      { type: "reasoning", text: "step one and two", finished: true },
      { type: "text", text: "answer" },
    ]);
  });

  it("goes on in the answer behind finished thoughts", async () => {
    const h = harness({ replies: [["<think>\na\n</think>\n\nb", { stop: "length" }], ["<think>c"]] });
    const session = h.session();
    const cut = await h.ask(session, "x");
    await h.chat.handlers["chat.continue"]({ sessionId: session.id, messageId: cut.id });
    expect(shown(await h.ended(cut.id))).toEqual({ reasoning: "a", text: "b<think>c" });
    expect(h.prompts()[1]?.endsWith("assistant\n<think>\na\n</think>\n\nb")).toBe(true);
  });
});

describe("what cannot be done", () => {
  it("is refused before anything is stored", async () => {
    const h = harness({ replies: [["x"]] });
    const session = h.session();
    const { handlers } = h.chat;
    const other = await h.ask(h.session(), "x");
    const sessionId = session.id;
    await expect(handlers["chat.send"]({ sessionId: "none", parentId: null, text: "x" })).rejects.toMatchObject({
      code: "session.not_found",
    });
    await expect(handlers["chat.send"]({ sessionId, parentId: "none", text: "x" })).rejects.toMatchObject({
      code: "message.not_found",
    });
    await expect(handlers["chat.send"]({ sessionId, parentId: other.id, text: "x" })).rejects.toMatchObject({
      code: "message.not_found",
    });
    const reply = await h.ask(session, "x");
    await expect(handlers["chat.edit"]({ sessionId, messageId: reply.id, text: "y" })).rejects.toMatchObject({
      code: "message.wrong_role",
    });
    await expect(handlers["chat.regenerate"]({ sessionId, messageId: reply.parentId ?? "" })).rejects.toMatchObject({
      code: "message.wrong_role",
    });
    expect(h.store.session(sessionId)?.messageCount).toBe(2);
  });

  it("without a model nothing is stored, and the reason is said", async () => {
    const h = harness({ wrapLibrary: (library) => ({ ...library, preferred: () => null }) });
    const session = h.session();
    await expect(h.send(session, "x")).rejects.toMatchObject({ code: "model.not_found" });
    expect(h.store.session(session.id)?.messageCount).toBe(0);
  });
});
