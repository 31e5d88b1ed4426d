/** Templates of our own, each with one thing to find; real ones stand in test/oracle/template/feature.test.ts. */
import { describe, expect, it } from "vitest";
import { settingOf } from "../../../../app/chat/feature.ts";
import { createFeatureCache } from "../../../../main/chat/feature-cache.ts";
import { noProbe, probeTemplate } from "../../../../main/chat/probe.ts";
import { compileTemplate } from "../../../../main/chat/template.ts";
import { inlineProber } from "./harness.ts";

const turns = (end: string, thoughts = ""): string =>
  `{% for m in messages %}[{{ m.role }}]{% if m.reasoning_content ${thoughts} %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}[assistant]${end}{% endif %}`;
const probe = (source: string) => probeTemplate(compileTemplate(source));

describe("a probe", () => {
  it("finds nothing in a plain template but its system role", () => {
    const { features, on, off, effort } = probe(turns("", "and false"));
    expect(features).toEqual({
      system: true,
      tools: false,
      thinking: "always",
      thinks: true,
      effort: null,
      pastThoughts: { thinking: { choice: false, kept: false }, answering: { choice: false, kept: false } },
    });
    expect([on, off, effort]).toEqual([null, null, null]);
    expect(probe("{% for m in messages %}{{ m.content }}{% endfor %}").features.thinking).toBe("none");
  });

  it("finds a switch by what it does, under any name that speaks of thinking", () => {
    const own = probe(turns("{% if my_thinking_knob %}<think>{% else %}<think></think>{% endif %}"));
    expect([own.on?.variables, own.off?.variables]).toEqual([{ my_thinking_knob: true }, { my_thinking_knob: false }]);
    expect(own.features).toMatchObject({
      thinking: "switch",
      thinks: false,
      pastThoughts: { answering: { kept: true } },
    });
    const turned = probe(turns("{% if skip_thinking %}<think></think>{% else %}<think>{% endif %}"));
    expect([turned.on?.variables, turned.off?.variables]).toEqual([{ skip_thinking: false }, { skip_thinking: true }]);
    expect(turned.features.thinks).toBe(true);
    expect(probe(turns("{% if enable_thinking %}{% endif %}")).features.thinking).toBe("always");
  });

  const listed = (of: string): string =>
    `{% for part in ${of} %}{% if part.type == "text" %}{{ part.text }}{% endif %}{% endfor %}`;

  it("finds whose texts have to come in parts", () => {
    const all = `{% for m in messages %}{{ m.role | capitalize }}: ${listed("m.content")}\n{% endfor %}`;
    expect(probe(all)).toMatchObject({
      works: true,
      features: { system: true },
      parts: ["user", "system", "assistant"],
    });
    // Plain instructions, and what is no text dropped without a word.
    const some = `{% for m in messages %}{% if m.role == "user" %}${listed("m.content if m.content is not string else []")}{% else %}{{ m.content }}{% endif %}{% endfor %}`;
    expect(probe(some)).toMatchObject({ works: true, features: { system: true }, parts: ["user"] });
    const both = `{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}${listed("m.content")}{% endif %}{% endfor %}`;
    expect(probe(both).parts).toEqual([]);
    expect(probe("{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}").parts).toEqual([]);
  });

  it("finds levels, also of a variable that prints what it is given, and which is the usual one", () => {
    const printed = probe(turns("effort: {{ reasoning_effort if reasoning_effort is defined else 'medium' }}"));
    expect(printed.features.effort).toEqual({ levels: ["low", "medium", "high"], initial: "medium" });
    expect(printed.features.thinking).toBe("always");
    const compared = probe(
      turns(
        "{% if think_mode == 'max' %}M{% elif think_mode == 'low' %}L{% elif think_mode == 'off' %}<think></think>{% endif %}",
      ),
    );
    expect(compared.effort).toBe("think_mode");
    expect(compared.features.effort?.levels).toEqual(["low", "max"]);
    expect(compared.off?.variables).toEqual({ think_mode: "off" });
  });

  it("finds a word in the system text that the template takes as a switch", () => {
    const flagged = probe(
      `{% for m in messages %}[{{ m.role }}]{{ m.content.replace('/no_think', '') }}{% endfor %}[assistant]{% if messages[0].role == 'system' and '/no_think' in messages[0].content %}<think></think>{% endif %}`,
    );
    expect(flagged.features.thinking).toBe("switch");
    expect(settingOf(flagged, { thinking: false, effort: null, keepThoughts: null })).toEqual({
      variables: {},
      systemFlag: "/no_think",
    });
    expect(settingOf(flagged, { thinking: true, effort: null, keepThoughts: null }).systemFlag).toBe("");
  });

  it("finds what keeps the thoughts of earlier replies", () => {
    const { features, keep } = probe(turns("", "and (loop.last or preserve_thinking)"));
    const choice = { choice: true, kept: false };
    expect(features.pastThoughts).toEqual({ thinking: choice, answering: choice });
    expect(keep).toEqual({ on: { preserve_thinking: true }, off: { preserve_thinking: false } });
    expect(probe(turns("", "and not clear_thinking | default(true)")).keep).toEqual({
      on: { clear_thinking: false },
      off: { clear_thinking: true },
    });
    const worded = probe(turns("", "and (loop.last or thoughts_of_reasoning == 'all')"));
    expect(worded.keep?.on).toEqual({ thoughts_of_reasoning: "all" });
  });

  it("tells what the switch of past thoughts does while the model thinks from what it does while it does not", () => {
    const end = "{% if enable_thinking %}<think>{% else %}<think></think>{% endif %}";
    const { features, keep } = probe(turns(end, "and (enable_thinking or preserve_thinking)"));
    expect(keep?.on).toEqual({ preserve_thinking: true });
    expect(features.pastThoughts).toEqual({
      thinking: { choice: false, kept: true },
      answering: { choice: true, kept: false },
    });
  });

  it("finds the name under which the template reads thoughts", () => {
    const named = (field: string) => turns("", "and keep_thinking").replaceAll("reasoning_content", field);
    for (const field of ["reasoning_content", "reasoning", "thinking"] as const) {
      const { thoughts, features } = probe(named(field));
      expect([thoughts, features.pastThoughts.thinking.choice]).toEqual([field, true]);
    }
  });

  it("takes a system role that is dropped in silence, or refused, as none", () => {
    const dropped = "{% for m in messages if m.role != 'system' %}{{ m.content }}{% endfor %}";
    expect(probe(dropped).features.system).toBe(false);
    const refused =
      "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}{{ m.content }}{% endfor %}";
    expect(probe(refused).features.system).toBe(false);
    expect(probe("{{ raise_exception('never') }}")).toBe(noProbe);
  });

  it("of a file without a template, or with a broken one, is that of ours, or none", async () => {
    const features = createFeatureCache(inlineProber);
    expect(await features({ template: null })).toMatchObject({ system: true, thinking: "none" });
    expect(await features({ template: "{% if %}" })).toBeNull();
    expect(await features({ template: "{{ raise_exception('never') }}" })).toBeNull();
  });
});

describe("a choice", () => {
  const both = probe(
    turns(
      "{% if enable_thinking %}{{ '<think>' + (reasoning_effort if reasoning_effort is defined else 'high') }}{% else %}<think></think>{% endif %}",
    ),
  );

  it("becomes the template's variables", () => {
    expect(both.features).toMatchObject({ thinking: "switch", thinks: false });
    const variables = (thinking: boolean | null, effort: string | null) =>
      settingOf(both, { thinking, effort, keepThoughts: null }).variables;
    expect(variables(null, null)).toEqual({});
    expect(variables(false, null)).toEqual({ enable_thinking: false });
    // A level means that it is to think; a level that there is not means nothing.
    expect(variables(null, "low")).toEqual({ enable_thinking: true, reasoning_effort: "low" });
    expect(variables(true, "huge")).toEqual({ enable_thinking: true });
    expect(variables(false, "low")).toEqual({ enable_thinking: false });
  });

  it("of past thoughts becomes the variable that keeps or drops them", () => {
    const kept = probe(turns("", "and preserve_thinking"));
    const variables = (keepThoughts: boolean | null) =>
      settingOf(kept, { thinking: null, effort: null, keepThoughts }).variables;
    expect([variables(null), variables(true), variables(false)]).toEqual([
      {},
      { preserve_thinking: true },
      { preserve_thinking: false },
    ]);
    expect(settingOf(both, { thinking: null, effort: null, keepThoughts: true }).variables).toEqual({});
  });
});
