import { describe, expect, it } from "vitest";
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

describe("texts", () => {
  it("format fills fields in order and by number", () => {
    expect(render("{{ '<|{}:{}|>'.format(name, 2) }}", { name: "a" })).toBe("<|a:2|>");
    expect(render("{{ '{1}{0}{{x}}'.format('a', 'b') }}")).toBe("ba{x}");
    expect(() => render("{{ '{}{}'.format('a') }}")).toThrowError(/no value/);
  });

  it("are stripped of what Python calls space, or of the characters that are named", () => {
    expect(render("[{{ x.strip() }}][{{ x | trim }}]", { x: "\ufeff a \u001c\u0085\u3000" })).toBe(
      "[\ufeff a][\ufeff a]",
    );
    expect(render("[{{ x.lstrip('\n') }}][{{ x.rstrip('\n') }}]", { x: "\n\n a \n" })).toBe("[ a \n][\n\n a ]");
    expect(render("[{{ x.strip('👋b') }}]", { x: "👋ba👋b" })).toBe("[a]");
    expect(() => render("{{ x.strip() }}", { x: null })).toThrowError(/template failed/);
  });

  it("of mappings and lists are Python's", () => {
    const x = { a: [1, null, true], "b'": 'it\'s "q"\n\u200b é', c: {}, d: "it's" };
    expect(render("{{ x | string }}", { x })).toBe(
      String.raw`{'a': [1, None, True], "b'": 'it\'s "q"\n\u200b é', 'c': {}, 'd': "it's"}`,
    );
    expect(render("{{ 5 | string }}{{ true | string }}{{ y | string }}{{ 'é' | string }}")).toBe("5Trueé");
  });

  it("that are added to marked-up text are escaped, and joined ones are not", () => {
    expect(render("{{ '<a>'|safe + x + '</a>'|safe }}", { x: `<&>'"` })).toBe("<a>&lt;&amp;&gt;&#39;&#34;</a>");
    expect(render("{{ x + '<a>'|safe + x }}", { x: "<" })).toBe("&lt;<a>&lt;");
    expect(render("{{ '<a>'|safe ~ x }}{{ x + x }}", { x: "<" })).toBe("<a><<<");
  });
});

describe("what the package lacks", () => {
  it("mappings with numbers as keys, walked through in order", () => {
    const source =
      "{% set m = {512: 'b', 0: 'a', 16384: 'c'} %}{% for k, v in m | dictsort %}{{ k + 1 }}{{ v }} {% endfor %}";
    expect(render(source)).toBe("1a 513b 16385c ");
    expect(render("{% for k, v in {'b': 1, 'a': 2} | dictsort %}{{ k }}{{ v }}{% endfor %}")).toBe("a2b1");
  });

  it("tuples that are taken apart, and the least of a list", () => {
    expect(render("{% for a, b in [('x', 1), ('y', 2)] %}{{ a }}{{ b }}{% endfor %}")).toBe("x1y2");
    expect(render("{% set a, b = ('x', 1) %}{{ b }}{{ a }}")).toBe("1x");
    expect(render("{{ [3, 1, 2] | min }}{{ [3, 1, 2] | max }}")).toBe("13");
    expect(() => render("{{ [] | min }}")).toThrowError(/empty/);
  });
});
