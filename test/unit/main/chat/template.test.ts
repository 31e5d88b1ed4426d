import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HalogenError } from "../../../../app/error.ts";
import { fallbackTemplate } from "../../../../main/chat/fallback-template.ts";
import { compileTemplate, formatTime } from "../../../../main/chat/template.ts";

const now = new Date(2026, 10, 5, 9, 7, 3);
const render = (source: string, variables: Record<string, unknown> = {}): string =>
  compileTemplate(source).render(variables, now);

function errorOf(work: () => unknown): HalogenError {
  try {
    work();
  } catch (error) {
    if (error instanceof HalogenError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("the environment", () => {
  it("drops the line break after a block and the indent before it", () => {
    expect(render("a\n  {% if true %}\nb\n  {% endif %}\nc\n")).toBe("a\nb\nc");
  });

  it("prints nothing for what is undefined, and takes it as false", () => {
    expect(render("[{{ nothing }}]{% if tools %}x{% endif %}{{ 'y' if nothing is not defined }}")).toBe("[]y");
  });

  it("writes JSON as the training framework does", () => {
    expect(render("{{ value | tojson }}", { value: { b: "é<&'", a: [1, 2.5, null, true] } })).toBe(
      '{"b": "é<&\'", "a": [1, 2.5, null, true]}',
    );
  });

  it("tells the time it is given", () => {
    expect(render("{{ strftime_now('%d %b %Y') }}")).toBe("05 Nov 2026");
    expect(formatTime(now, "%A %B %-d %e %y %I:%M:%S %p %% %Q")).toBe("Thursday November 5  5 26 09:07:03 AM % %Q");
  });

  it("accepts generation blocks, loop controls and namespaces", () => {
    expect(render("{% generation %}x{% endgeneration %}")).toBe("x");
    expect(
      render(
        "{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}",
      ),
    ).toBe("02");
    expect(
      render("{% set ns = namespace(n=0) %}{% for i in range(3) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}"),
    ).toBe("3");
  });

  it("gives each render a state of its own", () => {
    const template = compileTemplate("{% set x = (x or 0) + 1 %}{{ x }}");
    expect(template.render({}, now) + template.render({}, now)).toBe("11");
  });
});

describe("faults", () => {
  it("of the conversation are quoted from the template", () => {
    const error = errorOf(() => render("{{ raise_exception('Roles must alternate') }}"));
    expect(error).toMatchObject({ code: "template.failed", detail: { refused: true, reason: "Roles must alternate" } });
    expect(error.message).toContain("refuses this conversation: Roles must alternate");
  });

  it("of the template are told apart from that", () => {
    expect(errorOf(() => render("{{ messages[0].content.nothing() }}", { messages: [] })).detail.refused).toBe(false);
    expect(errorOf(() => compileTemplate("{% if %}"))).toMatchObject({ code: "template.failed" });
  });
});

describe("a template that means harm", () => {
  it.each([
    [
      "loops for ever",
      "{% set r = range(100000) %}{% for a in r %}{% for b in r %}{% for c in r %}{% endfor %}{% endfor %}{% endfor %}",
    ],
    ["asks for too many numbers", "{% for a in range(10000000000) %}{% endfor %}"],
    ["calls itself", "{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}"],
    [
      "grows without end",
      "{% set ns = namespace(t='xxxxxxxx') %}{% for a in range(60) %}{% set ns.t = ns.t ~ ns.t %}{% endfor %}{{ ns.t }}",
    ],
  ])("%s: it is ended, and only it", (_, source) => {
    expect(errorOf(() => render(source))).toMatchObject({ code: "template.failed", detail: { refused: false } });
  });

  it("whatever it holds, it fails in our words", () => {
    const bits = fc.constantFrom(
      "{% ",
      " %}",
      "{{ ",
      " }}",
      "{#",
      "#}",
      "for x in ",
      "endfor",
      "if ",
      "endif",
      "messages",
      "set a = ",
      "[",
      "]",
      "(",
      ")",
      ".",
      "|",
      "'",
      '"',
      "trim",
      "a",
      "b",
      " ",
      "-",
      "~",
      "1",
      "namespace()",
      "macro m()",
      "endmacro",
      "range(3)",
      "loop.index",
      "\n",
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 14 }), (parts) => {
        try {
          render(parts.join(""), { messages: [{ role: "user", content: "x" }] });
        } catch (error) {
          expect(error).toBeInstanceOf(HalogenError);
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe("fallbacks", () => {
  const messages = [
    { role: "system", content: "S" },
    { role: "user", content: "q" },
    { role: "assistant", content: "a" },
    { role: "user", content: "r" },
  ];
  const all = { messages, add_generation_prompt: true, bos_token: "<s>" };

  it("is ChatML where the vocabulary knows it", () => {
    const { source, stops } = fallbackTemplate((text) => text.startsWith("<|im_"));
    expect(render(source, all)).toBe(
      "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\na<|im_end|>\n<|im_start|>user\nr<|im_end|>\n<|im_start|>assistant\n",
    );
    expect(stops).toEqual([]);
  });

  it("is a plain dialogue otherwise", () => {
    const { source, stops } = fallbackTemplate(() => false);
    expect(render(source, all)).toBe("<s>S\n\nUser: q\n\nAssistant: a\n\nUser: r\n\nAssistant:");
    expect(stops).toContain("\nUser:");
  });
});
