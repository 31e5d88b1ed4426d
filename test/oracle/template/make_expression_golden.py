"""What Jinja2 makes of expressions that hang on Python's own types, for test/oracle/template/expression.test.ts.

    pip install jinja2
    python test/oracle/template/make_expression_golden.py

writes expression.json (next to itself): pairs of a template and its text, null where Jinja2 fails.
"""

import json
import pathlib

from jinja2.sandbox import ImmutableSandboxedEnvironment

FOLDER = pathlib.Path(__file__).parent
VARIABLES = {"list": [1, 2.5, None, True, "it's"], "map": {"k": "v", "z": {"deep": [1]}, "e": {}}, "empty": "", "nothing": None}

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
"""
BLOCKS = [
    "{% set z %}a{% endset %}{{ z == 'a' }}{{ z ~ 1 }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(true) }}{{ m('q') == 'q' }}{{ m(none) ~ m() }}",
    "{% for k, v in map.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% if list == [] %}a{% elif nothing == undefined %}b{% else %}{{ false }}{% endif %}",
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
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
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
