"""What Jinja2 makes of expressions that hang on Python's own types, for test/oracle/template/expression.test.ts.

    pip install jinja2
    python test/oracle/template/make_expression_golden.py

writes expression.json (next to itself): pairs of a template and its text, null where Jinja2 fails.
"""

import json
import pathlib

from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

FOLDER = pathlib.Path(__file__).parent
VARIABLES = {"list": [1, 2.5, None, True, "it's"], "map": {"k": "v", "z": {"deep": [1]}, "e": {}}, "empty": "", "nothing": None, "rows": [{"n": "a", "t": 1}, {"n": "b", "t": 2, "in": {"x": 3}}, {"n": "c", "t": 3.5, "in": {"x": 1}}, {"n": ""}]}

TEXTS = ["", "a,b,c", "  a b  c ", "ab\ncd\r\nef\n", "x\u0085y\u2028z\x1cw", "Hello World", "123", "\u00e9\u00c9", "aXaXa"]
PARTS = ["a", ",", "X", " ", ""]
EXPRESSIONS = """
true; not true; none; undefined; list; map; 2 * 1.5; 4 / 2; [1, 2.0]; map.z; list[2]; map.get("q"); 1 in [1.0]; empty; nothing
none == undefined; undefined == none; undefined == other; undefined != ""; "" == false; 0 == ""; "1" == 1; 1 == true; 1 == 1.0; nothing == none
[1, [2]] == [1, [2]]; [1] == [1, 2]; {"a": [1]} == {"a": [1]}; {"a": 1} == {"a": 2}; {"a": 1, "b": 2} == {"b": 2, "a": 1}; {} == []; map.e == {}
[1] in [[1], [2]]; {"a": 1} in [{"a": 1}]; undefined in "abc"; "a" in undefined; "a" not in undefined; none in [none]; "k" in map; 1 in map; "" in "x"; "x" in ""
"a" ~ undefined ~ none ~ true ~ list ~ 2.5; ("a" if false) ~ "b"; "a" if undefined is defined; 1 ~ 2; map ~ ""; none ~ none
[1, 2, 1].count(1); [1, 2].index(2); "-".join(["a", "b"]); "-".join("abc"); "-".join([]); "hELLO wORLD" | capitalize; 5 | capitalize
"a,b,c".split(",", 1); "a,b,c".split(",", maxsplit=1); "a,b,c".rsplit(sep=",", maxsplit=1); " a b c ".split(none, 1); "abc".index("z"); "a".split("")
1 in 2; "a" in 5
rows | selectattr("t", "equalto", 1) | list; rows | selectattr("t", "in", [1, 3]) | map(attribute="n") | list; rows | selectattr("t") | list | length; rows | selectattr("n", "ne", "b") | list
rows | rejectattr("t", "defined") | map(attribute="n") | list; rows | rejectattr("t", "eq", 1) | list; rows | selectattr("in.x", "gt", 1) | list; rows | selectattr("n", "martian") | list
[1, 2, 3, 4] | select("odd") | list; [1, 2, 3, 4] | reject("even") | list; [1, 2, 3] | select("gt", 1) | list; ["a", none, "b", ""] | select | list; [1, "a"] | select("string") | list; [1, "a"] | select("gt", 1) | list
["a", "b"] | map("upper") | join(","); [" a ", "b"] | map("trim") | list; rows | map(attribute="n", default="z") | list; rows | map(attribute="t", default=0) | list; [[1], []] | map("length") | list; [[1, 2]] | map("first") | list
"abc" | first; "abc" | last; "abc" | list; "abc" | reverse; [1, 2] | first; [1, 2] | last; [] | first; [] | last; [1, 2] | reverse | list; map | list; map | first; undefined | first; undefined | list; nothing | list
[1, 2, 3] | sum; [1.5, 2.5] | sum; [] | sum; rows | sum(attribute="t"); [1, 2] | sum(start=10); ["a"] | sum; rows | map(attribute="in.x", default=1) | sum
undefined | selectattr("a") | list; nothing | selectattr("a") | list; nothing | map(attribute="a") | list; [1, 2] | count; "abc" | count; undefined | d("x"); "" | d("x", true); none | d("x")
"a" is in ["a"]; "a" is not in ["b"]; 1 is eq 1; 1 is eq(2); "a" is equalto "a"; 2 is gt(1); 2 is not gt 1; 1 is le(1); 1 is ne 2; none is sameas none; not 1 is in [2]; 1 is in [1] and 2 is in [1]; "x" is in undefined
rows | map(attribute="n") | select("in", ["a"]) | list | length; (rows | selectattr("n", "equalto", "b") | first).t; (rows | selectattr("n", "equalto", "q") | first) is defined
"""
BLOCKS = [
    "{% set z %}a{% endset %}{{ z == 'a' }}{{ z ~ 1 }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(true) }}{{ m('q') == 'q' }}{{ m(none) ~ m() }}",
    "{% for k, v in map.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% if list == [] %}a{% elif nothing == undefined %}b{% else %}{{ false }}{% endif %}",
    "{% for i in [1, 2, 3] %}{% if i == 1 %}{% set x = 1 %}{% endif %}{{ x is defined }},{% endfor %}{{ x is defined }}",
    "{% for i in [1, 2, 3] %}<{{ i }}{% if i == 2 %}{% continue %}{% endif %}>{% endfor %}",
    "{% for i in [1, 2, 3] %}<{{ i }}{% if i == 2 %}{% if true %}!{% break %}{% endif %}{% endif %}>{% else %}none{% endfor %}",
    "{% for i in [1, 2] %}{% continue %}{% else %}none{% endfor %}|{% for i in [] %}x{% else %}none{% endfor %}|{% for i in [1] if i > 1 %}x{% else %}none{% endfor %}",
    "{% for i in [1, 2] %}{% for j in [1, 2, 3] %}{% if j == 2 %}{% break %}{% endif %}{{ i }}{{ j }} {% endfor %}{{ loop.index }}{{ loop.last }};{% endfor %}",
    "{% for c in 'a\u00e9' %}{{ c }}{{ loop.index0 }}{% endfor %}{% for k in map %}{{ k }}{% endfor %}{% for k in undefined %}x{% endfor %}",
    "{% for i in range(6) if i is odd %}{{ i }}:{{ loop.index }}/{{ loop.length }}{{ loop.revindex0 }}{{ loop.previtem }}{{ loop.nextitem is defined }} {% endfor %}",
    "{% for a, b in [(1, 2), ('x', 'y')] %}{{ a }}{{ b }}{% endfor %}{% for a, b in ['pq'] %}{{ b }}{{ a }}{% endfor %}",
    "{% for a, b in [(1, 2, 3)] %}{{ a }}{% endfor %}",
    "{% set a = [1, 2, 3] %}{{ a | reverse | list }}{{ a }}{% for i in a | reverse %}{{ i }}{% endfor %}{{ a | reverse | list }}{{ a }}",
    "{{ list | reverse | list | length }}{{ list | first }}{{ list | list | reverse | list }}{{ list | first }}",
    "{{ [1, 2] | select('constructor') | list }}",
    "{{ [1, 2] | map('constructor') | list }}",
    "{{ [0.5, 0.25] | sum }}",
    "{% for i in nothing %}x{% endfor %}",
    "{% for i in 5 %}x{% endfor %}",
    "{% macro m(list) %}{% for i in list %}{% if i == 'b' %}{% break %}{% endif %}{{ i }}{% endfor %}.{% endmacro %}{{ m('abc') }}{{ m([]) }}",
    "{% set z %}{% for i in [1, 2] %}{{ i }}{% if i == 1 %}{% continue %}{% endif %}!{% endfor %}{% endset %}{{ z }}",
    "{% set ns = namespace(n=0) %}{% for i in [1, 2] %}{% for j in [1, 2] %}{% set ns.n = ns.n + i * j %}{% endfor %}{% endfor %}{{ ns.n }}",
    "{% set i = 'out' %}{% for i in [1] %}{{ i }}{% endfor %}{{ i }}{% set y = 0 %}{% for j in [1] %}{% set y = 5 %}{{ y }}{% endfor %}{{ y }}",
    "{% set x = undefined == none %}{{ x }}{% set y = 'a' in list %}{{ y }}",
]


def quoted(text):
    return json.dumps(text, ensure_ascii=True)


def sources():
    for line in EXPRESSIONS.strip().splitlines():
        yield from ("{{ %s }}" % each.strip() for each in line.split(";"))
    yield from BLOCKS
    for text in map(quoted, TEXTS):
        for name in ["splitlines", "capitalize", "isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower", "split", "rsplit"]:
            yield "{{ %s.%s() }}" % (text, name)
        for part in map(quoted, PARTS):
            for name in ["find", "rfind", "index", "rindex", "count", "removeprefix", "removesuffix", "split", "rsplit"]:
                yield "{{ %s.%s(%s) }}" % (text, name, part)
            yield "{{ %s.rsplit(%s, 1) }}" % (text, part)
            yield "{{ %s.split(%s, 2) }}" % (text, part)


def main():
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    pairs = []
    for source in sources():
        try:
            pairs.append([source, environment.from_string(source).render(**VARIABLES)])
        except Exception:
            pairs.append([source, None])
    golden = {"variables": VARIABLES, "pairs": pairs}
    (FOLDER / "expression.json").write_text(json.dumps(golden, ensure_ascii=True, separators=(",", ":")) + "\n")
    print(len(pairs), sum(text is None for _, text in pairs))


main()
