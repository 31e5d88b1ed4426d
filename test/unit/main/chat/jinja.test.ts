import { describe, expect, it } from "vitest";
import { formatText } from "../../../../main/chat/jinja.ts";
import { compileTemplate } from "../../../../main/chat/template.ts";

const render = (source: string, variables: Record<string, unknown> = {}): string =>
  compileTemplate(source).render(variables, new Date(0));

describe("what is undefined", () => {
  it("is empty to loops and list filters, as in Jinja", () => {
    expect(render("{% for tool in tools %}x{% else %}none{% endfor %}")).toBe("none");
    expect(render("{% for tool in tools if tool.a %}x{% endfor %}{{ tools | length }}")).toBe("0");
    expect(render("{{ tools | selectattr('type', 'equalto', 'x') | list | length }}")).toBe("0");
  });

  it("and none to those that take it in Python, and to no others", () => {
    expect(render("{{ tools | selectattr('type', 'equalto', 'x') | list | length }}", { tools: null })).toBe("0");
    expect(() => render("{% for tool in tools %}x{% endfor %}", { tools: null })).toThrowError();
    expect(() => render("{{ tools | length }}", { tools: null })).toThrowError();
  });

  it("changes nothing for what is there", () => {
    expect(
      render("{% for x in list if x > 1 %}{{ x }}{% endfor %}{{ list | length }}{{ '' | length }}", {
        list: [1, 2, 3],
      }),
    ).toBe("2330");
  });
});

describe("format", () => {
  it("fills fields in order and by number", () => {
    expect(render("{{ '<|{}:{}|>'.format(name, 2) }}", { name: "a" })).toBe("<|a:2|>");
    expect(formatText("{1}{0}{{x}}", "a", "b")).toBe("ba{x}");
    expect(() => formatText("{}{}", "a")).toThrowError(/no value/);
  });
});
