import { describe, expect, it } from "vitest";
import { foldSystem, templateMessages } from "../../../../app/chat/template-input.ts";
import type { Block, Message } from "../../../../app/contract/message.ts";

let made = 0;
function message(role: Message["role"], ...blocks: (string | Block)[]): Message {
  return {
    id: `m${made++}`,
    sessionId: "s",
    parentId: null,
    role,
    blocks: blocks.map((block) => (typeof block === "string" ? { type: "text", text: block } : block)),
    status: "complete",
    error: null,
    createdAt: 0,
    modelId: null,
    modelName: null,
    stats: null,
  };
}
const thought = (text: string): Block => ({
  type: "reasoning",
  text,
  finished: true,
  milliseconds: null,
  tokens: null,
});

describe("templateMessages", () => {
  it("puts the chat's system text first and keeps thoughts apart from the answer", () => {
    expect(
      templateMessages(
        "Be brief.",
        [message("user", "hi"), message("assistant", thought("hmm"), "yo")],
        "reasoning_content",
      ),
    ).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "hi" },
      { role: "assistant", content: "yo", reasoning_content: "hmm" },
    ]);
  });

  it("merges every system text into one in front (templates refuse a second one)", () => {
    const path = [message("system", "A"), message("user", "1"), message("system", "B"), message("user", "2")];
    expect(templateMessages("", path, "reasoning_content")).toEqual([
      { role: "system", content: "A\n\nB" },
      { role: "user", content: "1\n\n2" },
    ]);
  });

  it("leaves out replies without an answer, so that questions meet and are merged", () => {
    const path = [message("user", "1"), message("assistant", thought("only thoughts")), message("user", "2")];
    expect(templateMessages(" ", path, "reasoning_content")).toEqual([{ role: "user", content: "1\n\n2" }]);
  });

  it("gives thoughts under the name it is told", () => {
    const path = [message("user", "1"), message("assistant", thought("hm"), "A")];
    expect(templateMessages("", path, "reasoning")[1]).toEqual({ role: "assistant", content: "A", reasoning: "hm" });
  });

  it("changes no character of a text", () => {
    const text = "  {{ name }} {% raw %} \n\t<b>&amp;</b>\\n \n";
    expect(templateMessages("", [message("user", text)], "reasoning_content")[0]?.content).toBe(text);
  });
});

describe("foldSystem", () => {
  it("puts the system text in front of the first question", () => {
    expect(
      foldSystem([
        { role: "system", content: "S" },
        { role: "user", content: "q" },
      ]),
    ).toEqual([{ role: "user", content: "S\n\nq" }]);
    expect(foldSystem([{ role: "system", content: "S" }])).toEqual([{ role: "user", content: "S" }]);
    expect(foldSystem([{ role: "user", content: "q" }])).toEqual([{ role: "user", content: "q" }]);
  });
});
