"""Golden ids and pieces from an independent tokenizer (the `tokenizers` package), for test/oracle/tokenizer/*.test.ts.

    pip install tokenizers gguf
    python test/oracle/tokenizer/make_golden.py SmolLM2-135M-Instruct.Q4_1.gguf

writes next to itself:
  smollm2.json  texts and their ids in the starter model's vocabulary, with and without special tokens
  piece.json    texts and the pieces that each pre-tokenizer cuts them into (the expressions, run by Oniguruma)
"""

import json
import pathlib
import random
import sys

import gguf
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

FOLDER = pathlib.Path(__file__).parent
CASED = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+%s|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*%s|%s| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SHORT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TAIL = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
# As the models' own tokenizer.json files have them.
EXPRESSIONS = {
    "gpt-2": [GPT2],
    "smollm": [r"\p{N}", GPT2],
    "llama-bpe": [SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|" + TAIL],
    "qwen2": [SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|" + TAIL],
    "qwen35": [
        SHORT
        + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ],
    "gpt-4o": [CASED % (SHORT + "?", SHORT + "?", r"\p{N}{1,3}")],
    "tekken": [CASED % ("", "", r"\p{N}")],
    "deepseek-v3": [
        r"\p{N}{1,3}",
        "[一-龥぀-ゟ゠-ヿ]+",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
    ],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+", r"\p{N}"],
    "seed-coder": [SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"],
    "minicpm5": [r"\p{N}{1,3}", SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+|" + TAIL],
    "ufakzeka": [r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|" + TAIL],
    "viking": [r" ?[^(\s|.,!?…。，、।۔،)]+", r"\p{N}"],
    "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
}

TEXTS = [
    "",
    " ",
    "  ",
    "\n",
    "\n\n \n",
    "\t\tif (x) {\r\n\t\t\treturn 1;\r\n\t\t}",
    "Hello, world!",
    " Hello  world ",
    "I'm sure they've said they'll go, he'd've; DON'T SHOUT, we'RE here, it'S",
    "The year 2026 has 365 days; pi is 3.14159265, 1,000,000 and 0x1F",
    "def f(a, b=None):\n    return [x**2 for x in range(10) if x % 2 == 0]  # comment\n",
    "naïve café, São Tomé, Čeština, Ελληνικά, Русский текст, Đường",
    "decomposed: e\u0301 n\u0303 u\u0308 and हिन्दी में लिखा, ภาษาไทย",
    "漢字とかなカナ、中文字符。한국어 텍스트",
    "🚀 👩‍👩‍👧‍👦 🇩🇪 ✅ ☎️ é",
    "\u0085 next line, \u00a0no-break, \u2003em, \u3000wide, \ufeffmark, \u200bzero",
    "<|im_start|>user\nquoted<|im_end|>\n<|endoftext|>",
    "a<b>c</b> && d || e => f -> g != h; {{ name }} ${HOME} $5 \\frac{1}{2}",
    "http://example.org/path?x=1&y=%20#top user@host.com C:\\dir\\file.txt",
    "----====____****////\\\\\\\\....,,,,!!!!????",
    "a" * 100,
    " " * 100 + "x",
    "\n" * 50,
    "7" * 40,
    "ABCdefGHIjkl camelCaseString HTTPServer iPhone ǅungla ªº ʰ",
    "١٢٣ ੧੨੩ Ⅷ ½ ²³ ①",
    "mixed\ttabs \t and\n \t\n newlines \r\n end ",
]


def random_texts(count):
    rng = random.Random(20261130)
    alphabet = "abcXYZ 019.,'\n\r\t<|>éßЖ中あ한́🚀\u0085\u00a0\ufeff$_-/sStTrReE"
    return ["".join(rng.choice(alphabet) for _ in range(rng.randint(1, 40))) for _ in range(count)]


def starter(path):
    fields = gguf.GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    types = fields["tokenizer.ggml.token_type"].contents()
    merges = [tuple(line.split(" ")) for line in fields["tokenizer.ggml.merges"].contents()]
    tokenizer = Tokenizer(models.BPE({text: id for id, text in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    plain = Tokenizer.from_str(tokenizer.to_str())
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t, k in zip(tokens, types) if k == 3])
    return plain, tokenizer


def main():
    plain, special = starter(sys.argv[1])
    texts = TEXTS + random_texts(150)
    cases = [{"text": text, "plain": plain.encode(text).ids, "special": special.encode(text).ids} for text in texts]
    write("smollm2.json", cases)

    pieces = {}
    for name, expressions in EXPRESSIONS.items():
        chain = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(each), "isolated") for each in expressions])
        pieces[name] = [[piece for piece, _ in chain.pre_tokenize_str(text)] for text in texts]
    write("piece.json", {"texts": texts, "pieces": pieces})


def write(name, value):
    (FOLDER / name).write_text(json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n")


main()
