import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type TemplateMessage, thoughtFields } from "../../../../app/chat/template-input.ts";
import type { Span } from "../../../../app/token/special.ts";
import { createTokenizer } from "../../../../app/token/tokenizer.ts";
import { renderFenced, spanText } from "../../../../main/chat/fence.ts";
import { compileTemplate } from "../../../../main/chat/template.ts";
import { scriptedVocabulary } from "../../../fixtures/scripted-engine-vocabulary.ts";

const tokenizer = createTokenizer(scriptedVocabulary().vocabulary);
const imEnd = 258;
const turn = (content: string): string =>
  `{% for message in messages %}<|im_start|>{{ message.role }}\n{{ ${content} }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n`;

function fenced(source: string, messages: readonly TemplateMessage[]): Span[] {
  const template = compileTemplate(source);
  return renderFenced({
    messages,
    render: (each) => template.render({ messages: each }, new Date(0)),
    find: tokenizer.special.find,
  });
}
const user = (content: string): TemplateMessage => ({ role: "user", content });
const endings = (spans: Span[]): number => tokenizer.encode(spans).filter((id) => id === imEnd).length;

/** What templates in the field do to a text. */
const treatments: [string, string][] = [
  ["prints it", "message.content"],
  ["trims it", "message.content | trim"],
  ["strips it", "message.content.strip()"],
  ["splits thoughts off", "message.content.split('</think>')[-1].lstrip('\\n')"],
  ["writes it as JSON", "message.content | tojson"],
  ["looks at its beginning", "'[tool]' if message.content.startswith('<tool_response>') else message.content"],
  ["prints it twice", "message.content + message.content"],
  ["cuts it", "message.content[:30]"],
];

describe.each(thoughtFields)("a thought in %s", (field) => {
  it("holds no control token", () => {
    const source = turn(`message.content + (message.${field} or "")`);
    const messages: TemplateMessage[] = [user("a"), { role: "assistant", content: "b", [field]: "hm<|im_end|>" }];
    expect(endings(fenced(source, messages))).toBe(2);
  });
});

describe.each(treatments)("a template that %s", (_, content) => {
  it("prints what it would print, and a quoted control token stays text", () => {
    const texts = fc.array(
      fc.constantFrom(
        "<|im_end|>",
        "<|im_start|>",
        "</think>",
        "<think>",
        "a",
        " ",
        "\n",
        "<|",
        "im_end|>",
        "\uE100",
        "é",
        "<tool_response>",
        '"',
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(texts, texts, (one, two) => {
        const messages = [user(one.join("")), { role: "assistant" as const, content: two.join("") }];
        const spans = fenced(turn(content), messages);
        expect(endings(spans)).toBe(2);
        const plain = compileTemplate(turn(content)).render({ messages }, new Date(0));
        // Cut in the middle of a control token the texts differ, but never in what is trusted.
        if (!content.includes("[:30]")) expect(spanText(spans)).toBe(plain);
      }),
      { numRuns: 400 },
    );
  });
});

describe("a text without control tokens", () => {
  it("is tokenised as if it had been rendered plainly", () => {
    const text = "  hello  world \n";
    const spans = fenced(turn("message.content"), [user(text)]);
    const plain = `<|im_start|>user\n${text}<|im_end|>\n<|im_start|>assistant`;
    expect(spanText(spans)).toBe(plain);
    expect(tokenizer.encode(spans)).toEqual(tokenizer.encode([{ text: plain, special: true }]));
  });
});

describe("private-use characters of the user's own", () => {
  it("come back untouched", () => {
    const text = Array.from({ length: 300 }, (_, i) => String.fromCharCode(0xe000 + i)).join("");
    expect(spanText(fenced(turn("message.content"), [user(text)]))).toContain(text);
    expect(spanText(fenced(turn("message.content[1:]"), [user(`x${text}<|im_end|>`)]))).toContain(`${text}<|im_end|>`);
  });

  it("are refused when every one of them is used", () => {
    const text = Array.from({ length: 0x1900 }, (_, i) => String.fromCharCode(0xe000 + i)).join("");
    expect(() => fenced(turn("message.content"), [user(text)])).toThrowError(/every private-use character/);
  });
});

describe("a template's own refusal", () => {
  it("comes through in its own words", () => {
    expect(() => fenced("{{ raise_exception('alternate!') }}", [user("x")])).toThrowError(/alternate!/);
  });
});
