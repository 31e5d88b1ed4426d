/** Templates of our own, each with one thing to find; real ones stand in test/oracle/template/feature.test.ts. */
import { describe, expect, it } from "vitest";
import { settingOf } from "../../../../app/chat/feature.ts";
import { createFeatureCache } from "../../../../main/chat/feature-cache.ts";
import { noProbe, probeTemplate } from "../../../../main/chat/probe.ts";
import { compileTemplate } from "../../../../main/chat/template.ts";

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
      keepsThoughts: false,
    });
    expect([on, off, effort]).toEqual([null, null, null]);
    expect(probe("{% for m in messages %}{{ m.content }}{% endfor %}").features.thinking).toBe("none");
  });

  it("finds a switch by what it does, under any name that speaks of thinking", () => {
    const own = probe(turns("{% if my_thinking_knob %}<think>{% else %}<think></think>{% endif %}"));
    expect([own.on?.variables, own.off?.variables]).toEqual([{ my_thinking_knob: true }, { my_thinking_knob: false }]);
    expect(own.features).toMatchObject({ thinking: "switch", thinks: false, keepsThoughts: true });
    const turned = probe(turns("{% if skip_thinking %}<think></think>{% else %}<think>{% endif %}"));
    expect([turned.on?.variables, turned.off?.variables]).toEqual([{ skip_thinking: false }, { skip_thinking: true }]);
    expect(turned.features.thinks).toBe(true);
    expect(probe(turns("{% if enable_thinking %}{% endif %}")).features.thinking).toBe("always");
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
    expect(settingOf(flagged, { thinking: false, effort: null })).toEqual({ variables: {}, systemFlag: "/no_think" });
    expect(settingOf(flagged, { thinking: true, effort: null }).systemFlag).toBe("");
  });

  it("finds what keeps the thoughts of earlier replies", () => {
    const { features, keep } = probe(turns("", "and (loop.last or preserve_thinking)"));
    expect([features.keepsThoughts, keep]).toEqual([false, { preserve_thinking: true }]);
    expect(probe(turns("", "and not clear_thinking | default(true)")).keep).toEqual({ clear_thinking: false });
  });

  it("takes a system role that is dropped in silence, or refused, as none", () => {
    const dropped = "{% for m in messages if m.role != 'system' %}{{ m.content }}{% endfor %}";
    expect(probe(dropped).features.system).toBe(false);
    const refused =
      "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}{{ m.content }}{% endfor %}";
    expect(probe(refused).features.system).toBe(false);
    expect(probe("{{ raise_exception('never') }}")).toBe(noProbe);
  });

  it("of a file without a template, or with a broken one, is that of ours, or none", () => {
    const features = createFeatureCache();
    expect(features({ template: null })).toMatchObject({ system: true, thinking: "none" });
    expect(features({ template: "{% if %}" })).toBeNull();
    expect(features({ template: "{{ raise_exception('never') }}" })).toBeNull();
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
      settingOf(both, { thinking, effort }).variables;
    expect(variables(null, null)).toEqual({});
    expect(variables(false, null)).toEqual({ enable_thinking: false });
    // A level means that it is to think; a level that there is not means nothing.
    expect(variables(null, "low")).toEqual({ enable_thinking: true, reasoning_effort: "low" });
    expect(variables(true, "huge")).toEqual({ enable_thinking: true });
    expect(variables(false, "low")).toEqual({ enable_thinking: false });
  });
});
