/** The format of a reply: what the engine is asked to keep, where a thought comes first, and that it stays with what it was asked for. */
import { describe, expect, it } from "vitest";
import type { ResponseFormat } from "../../../../app/contract/message.ts";
import { type Harness, harness, shown } from "./harness.ts";

const json: ResponseFormat = { kind: "json", source: "" };
const word: ResponseFormat = { kind: "regex", source: "[a-z]+" };

const asked = (h: Harness) =>
  h.engine.requests.map(({ grammar, thought, written }) => ({ grammar, thought: thought ?? null, written }));

async function send(h: Harness, sessionId: string, responseFormat?: ResponseFormat | null) {
  const { user, reply } = await h.chat.handlers["chat.send"]({
    sessionId,
    parentId: null,
    text: "x",
    ...(responseFormat === undefined ? {} : { responseFormat }),
  });
  return { user: user?.id ?? "", reply: await h.ended(reply.id) };
}

describe("the format of a reply", () => {
  it("is kept with it: regenerating, editing and continuing hold to it without being told", async () => {
    const h = harness({ replies: [["{}"], ["[]"], ["{ ", { stop: "length" }], ["}"]] });
    const { id: sessionId } = h.session({ sampling: { thinking: false } });
    const first = await send(h, sessionId, json);
    expect(first.reply.responseFormat).toEqual(json);
    const again = await h.chat.handlers["chat.regenerate"]({ sessionId, messageId: first.reply.id });
    await h.ended(again.reply.id);
    const edited = await h.chat.handlers["chat.edit"]({ sessionId, messageId: first.user, text: "y" });
    const cut = await h.ended(edited.reply.id);
    expect(cut.status).toBe("length");
    await h.chat.handlers["chat.continue"]({ sessionId, messageId: cut.id });
    expect(shown(await h.ended(cut.id)).text).toBe("{ }");
    expect(asked(h)).toEqual([
      { grammar: json, thought: null, written: "" },
      { grammar: json, thought: null, written: "" },
      { grammar: json, thought: null, written: "" },
      { grammar: json, thought: null, written: "{ " },
    ]);
    // Also for who reads the chat again, and further on.
    const stored = h.store.document(sessionId)?.messages ?? [];
    expect(stored.map(({ responseFormat }) => responseFormat)).toEqual(stored.map(() => json));
    const second = await h.chat.handlers["chat.regenerate"]({ sessionId, messageId: again.reply.id });
    expect((await h.ended(second.reply.id)).responseFormat).toEqual(json);
  });

  it("is another, or none, where that is said, and none for other messages", async () => {
    const h = harness({ replies: [["{}"]] });
    const { id: sessionId } = h.session({ sampling: { thinking: false } });
    const { user, reply } = await send(h, sessionId, json);
    for (const responseFormat of [word, null]) {
      const again = await h.chat.handlers["chat.regenerate"]({ sessionId, messageId: reply.id, responseFormat });
      expect((await h.ended(again.reply.id)).responseFormat).toEqual(responseFormat ?? undefined);
    }
    const edited = await h.chat.handlers["chat.edit"]({ sessionId, messageId: user, text: "y", responseFormat: null });
    expect((await h.ended(edited.reply.id)).responseFormat).toBeUndefined();
    const free = await h.ask(h.store.session(sessionId) ?? h.session(), "more");
    expect(free.responseFormat).toBeUndefined();
    expect(asked(h).map(({ grammar }) => grammar)).toEqual([json, word, undefined, undefined, undefined]);
  });
});

describe("a format and a thought", () => {
  const think = {
    opens: [{ text: "<think>", to: "thought" }],
    leads: [{ text: "</think>", to: "answer" }],
    never: [],
    answers: [],
  };

  it("go together: the format begins behind the thought, whether the reply or the template opens it", async () => {
    const h = harness({ replies: [["<think>\nplan\n</think>\n\n{}"]] });
    const { reply } = await send(h, h.session({ sampling: { thinking: true } }).id, json);
    expect(shown(reply)).toEqual({ reasoning: "plan", text: "{}" });
    expect(asked(h)[0]).toEqual({ grammar: json, thought: { ...think, begun: false }, written: undefined });

    const template =
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n<think>\n";
    const opened = harness({ template, replies: [["plan</think>{}"]] });
    await send(opened, opened.session().id, json);
    expect(asked(opened)[0]).toEqual({ grammar: json, thought: { ...think, begun: true }, written: undefined });
  });

  it("begins at once where the model is told not to think, or cannot", async () => {
    const h = harness({ replies: [["{}"]] });
    await send(h, h.session({ sampling: { thinking: false } }).id, json);
    const plain = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: ";
    const other = harness({ template: plain, replies: [["{}"]] });
    await send(other, other.session().id, json);
    for (const each of [h, other]) expect(asked(each)[0]).toEqual({ grammar: json, thought: null, written: "" });
  });

  it("that never ends at the longest length is said to be why there is no answer", async () => {
    const h = harness({ replies: [["<think>on and on", { stop: "length" }], [" and on</think>{}"]] });
    const { id: sessionId } = h.session({ sampling: { thinking: true } });
    const { reply } = await send(h, sessionId, json);
    expect(reply).toMatchObject({ status: "length", error: { code: "grammar.unreached" } });
    expect(reply.blocks).toMatchObject([{ type: "reasoning", text: "on and on", finished: false }]);
    // Allowed more, it thinks on, and the format still holds behind it.
    await h.chat.handlers["chat.continue"]({ sessionId, messageId: reply.id });
    expect(await h.ended(reply.id)).toMatchObject({ status: "complete", error: null });
    expect(asked(h)[1]).toEqual({ grammar: json, thought: { ...think, begun: true }, written: undefined });
  });

  it("that was cut in the answer goes on in the answer", async () => {
    const h = harness({ replies: [["<think>a</think>{", { stop: "length" }], ["}"]] });
    const { id: sessionId } = h.session({ sampling: { thinking: true } });
    const { reply } = await send(h, sessionId, json);
    expect(reply).toMatchObject({ status: "length", error: null });
    await h.chat.handlers["chat.continue"]({ sessionId, messageId: reply.id });
    expect(shown(await h.ended(reply.id)).text).toBe("{}");
    expect(asked(h)[1]).toEqual({ grammar: json, thought: null, written: "{" });
  });

  it("in channels holds to the headers that are known", async () => {
    const template = [
      "{% for m in messages %}<|start|>{{ m.role }}",
      "{% if m.thinking %}<|channel|>analysis<|message|>{{ m.thinking }}<|end|><|start|>assistant{% endif %}",
      "{% if m.role == 'assistant' %}<|channel|>final{% endif %}<|message|>{{ m.content }}<|end|>",
      "{% endfor %}<|start|>assistant",
    ].join("");
    const h = harness({ template, replies: [["{}"]] });
    await send(h, h.session().id, json);
    const next = "<|end|><|start|>assistant<|channel|>";
    expect(asked(h)[0]?.thought).toEqual({
      begun: false,
      opens: [
        { text: "<|channel|>analysis<|message|>", to: "thought" },
        { text: "<|channel|>final<|message|>", to: "answer" },
        { text: "<|channel|>commentary<|message|>", to: "answer" },
      ],
      leads: [
        { text: `${next}analysis<|message|>`, to: "thought", bound: "<|end|>" },
        { text: `${next}final<|message|>`, to: "answer", bound: "<|end|>" },
        { text: `${next}commentary<|message|>`, to: "answer", bound: "<|end|>" },
      ],
      never: ["<|end|>", "<|start|>", "<|channel|>", "<|constrain|>", "<|message|>"],
      answers: [],
    });
  });
});
