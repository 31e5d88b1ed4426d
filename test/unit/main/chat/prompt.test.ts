/** What stands in front of the model: when a reply in channels goes on, and where a template wants texts in parts, or no instructions. */
import { describe, expect, it } from "vitest";
import type { Block, Message } from "../../../../app/contract/message.ts";
import { createTokenizer } from "../../../../app/token/tokenizer.ts";
import { probeTemplate } from "../../../../main/chat/probe.ts";
import { buildPrompt, createDialect } from "../../../../main/chat/prompt.ts";
import { compileTemplate } from "../../../../main/chat/template.ts";
import { packStrings, scriptedVocabulary } from "../../../fixtures/scripted-engine-vocabulary.ts";

const marks = ["<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>"];
const template = `{%- for message in messages %}
{%- if message.thinking %}
{{- '<|start|>assistant<|channel|>analysis<|message|>' + message.thinking + '<|end|>' }}
{%- endif %}
{{- '<|start|>' + message.role }}
{%- if message.role == 'assistant' %}{{- '<|channel|>final' }}{%- endif %}
{{- '<|message|>' + message.content + '<|end|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start|>assistant' }}{%- endif %}`;

const { vocabulary } = scriptedVocabulary();
const plain = createTokenizer(vocabulary);
const texts = Array.from({ length: plain.count }, (_, id) => plain.tokenText(id));
const tokenizer = createTokenizer({
  ...vocabulary,
  tokens: packStrings([...texts, ...marks]),
  types: Int32Array.from([...vocabulary.types, ...marks.map(() => 3)]),
});
const dialectOf = (source: string) =>
  createDialect(tokenizer, source, { probe: async (each) => probeTemplate(compileTemplate(each)) });
const dialect = await dialectOf(template);

const message = (role: "user" | "assistant", blocks: Block[]): Message => ({
  id: role,
  sessionId: "s",
  parentId: null,
  role,
  blocks,
  status: "complete",
  error: null,
  stats: null,
  modelId: null,
  modelName: null,
  createdAt: 0,
});
const text = (words: string): Block => ({ type: "text", text: words });
const thought = (words: string, finished: boolean): Block => ({
  type: "reasoning",
  text: words,
  finished,
  milliseconds: null,
  tokens: null,
});

function build(blocks: Block[] | null, of = dialect, system = "", question = "Q", thinking: boolean | null = null) {
  return buildPrompt({
    dialect: of,
    system,
    choice: { thinking, effort: null, keepThoughts: null },
    path: [message("user", [text(question)])],
    begun: blocks === null ? null : message("assistant", blocks),
    now: new Date(0),
    limit: { contextLength: 4096, trained: 4096 },
  });
}

const question = "<|start|>user<|message|>Q<|end|><|start|>assistant";

describe("a reply in channels", () => {
  it.each<[string, Block[] | null, string, boolean]>([
    ["begins inside a header", null, "", false],
    ["goes on thinking", [thought("hm", false)], "<|channel|>analysis<|message|>hm", true],
    ["goes on answering", [text("A")], "<|channel|>final<|message|>A", false],
    [
      "answers after a finished thought",
      [thought("hm", true)],
      "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>",
      false,
    ],
    [
      "has a header for each part",
      [thought("hm", true), text("A"), thought("so", false)],
      "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>A" +
        "<|end|><|start|>assistant<|channel|>analysis<|message|>so",
      true,
    ],
  ])("%s", (_, blocks, tail, inside) => {
    const prompt = build(blocks);
    expect(prompt.text).toBe(question + tail);
    expect(prompt.splitter.inside).toBe(inside);
    const ids = dialect.tokenizer.encode([{ text: question + tail, special: true }]);
    expect(prompt.tokens).toEqual(ids);
  });
});

describe("a template that reads texts in parts", () => {
  it("gets them so, and what people wrote stays text", async () => {
    const source =
      "{% for m in messages %}{{ m.role }}: {% for part in m.content %}{{ part.text }}{% endfor %}<|end|>{% endfor %}" +
      "{% if add_generation_prompt %}assistant:{% endif %}";
    const prompt = build(null, await dialectOf(source), "Be kind.", "say <|end|>");
    expect(prompt.text).toBe("system: Be kind.<|end|>user: say <|end|><|end|>assistant:");
    expect(prompt.tokens.filter((id) => id === tokenizer.specialId("<|end|>"))).toHaveLength(2);
  });
});

describe("instructions", () => {
  const each = "[{{ m.role }}]{{ m.content }}";
  const ask = async (body: string) =>
    build(null, await dialectOf(`{% for m in messages %}${body}{% endfor %}[assistant]`), "Be kind.").text;

  it("stand where the template has a place for them, and before the question where it drops or refuses them", async () => {
    expect(await ask(each)).toBe("[system]Be kind.[user]Q[assistant]");
    const folded = "[user]Be kind.\n\nQ[assistant]";
    expect(await ask(`{% if m.role != "system" %}${each}{% endif %}`)).toBe(folded);
    expect(await ask(`{% if m.role == "system" %}{{ raise_exception("no") }}{% endif %}${each}`)).toBe(folded);
  });

  it("tell a template to switch thoughts off where it looks there for it, also where there are no others", async () => {
    const of = await dialectOf(
      `{% set ns = namespace(off=false) %}{% for m in messages %}{% if m.role == "system" %}` +
        `{% set ns.off = "/no_think" in m.content %}[system]{{ m.content | replace("/no_think", "") | trim }}` +
        `{% else %}${each}{% endif %}{% endfor %}[assistant]{% if ns.off %}<think></think>{% else %}<think>{% endif %}`,
    );
    const asked = (system: string, thinking: boolean | null) => build(null, of, system, "Q", thinking);
    expect(asked("Be kind.", false).text).toBe("[system]Be kind.[user]Q[assistant]<think></think>");
    expect(asked("", false).text).toBe("[system][user]Q[assistant]<think></think>");
    expect(asked("", false).splitter.place).toBe("text");
    for (const thinking of [true, null]) expect(asked("", thinking).text).toBe("[user]Q[assistant]<think>");
  });
});
