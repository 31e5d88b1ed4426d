"""What Jinja itself makes of the chat templates that llama.cpp ships, for test/oracle/template/template.test.ts.

    pip install jinja2
    python test/oracle/template/make_golden.py <unpacked llama-cpp-python>/vendor/llama.cpp/models/templates

writes golden.json: for each template and conversation the SHA-256 of the prompt, its length and its last 120 characters, or the error.
The templates belong to their models and are not copied.
"""

import datetime
import hashlib
import json
import pathlib
import sys

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

FOLDER = pathlib.Path(__file__).parent
NOW = datetime.datetime(2026, 11, 5, 9, 7, 3)

USER = {"role": "user", "content": "hi  there"}
CONVERSATIONS = {
    "question": [USER],
    "system": [{"role": "system", "content": "SYS é"}, USER],
    "dialogue": [
        {"role": "system", "content": "SYS"},
        {"role": "user", "content": "one\n"},
        {"role": "assistant", "content": "yo", "reasoning_content": "hmm"},
        {"role": "user", "content": "  two <b>&amp;</b> \"q\" {{ x }}"},
    ],
}


class Refused(Exception):
    pass


class Generation(jinja2.ext.Extension):
    """`{% generation %}` marks the assistant's part for training; it prints what it holds."""

    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


def raise_exception(message):
    raise Refused(message)


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def main():
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = NOW.strftime
    golden = {}
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.jinja")):
        source = path.read_text(encoding="utf-8")
        results = {}
        for name, messages in CONVERSATIONS.items():
            try:
                prompt = environment.from_string(source).render(
                    messages=messages, add_generation_prompt=True, bos_token="<s>", eos_token="</s>"
                )
                digest = hashlib.sha256(prompt.encode("utf-8")).hexdigest()
                results[name] = {"sha256": digest, "length": len(prompt.encode("utf-8")), "tail": prompt[-120:]}
            except Refused as refusal:
                results[name] = {"refused": str(refusal)}
            except Exception as error:
                results[name] = {"failed": f"{type(error).__name__}: {error}"}
        golden[path.name] = {"sha256": hashlib.sha256(source.encode("utf-8")).hexdigest(), "results": results}
    text = json.dumps({"conversations": CONVERSATIONS, "templates": golden}, ensure_ascii=True, indent=1)
    (FOLDER / "golden.json").write_text(text + "\n")


main()
