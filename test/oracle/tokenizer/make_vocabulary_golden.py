"""Ids that the `tokenizers` package gives for the vocabularies in llama.cpp's source package, for test/oracle/tokenizer/vocabulary.test.ts.

    pip install tokenizers gguf
    python test/oracle/tokenizer/make_vocabulary_golden.py <unpacked llama-cpp-python>/vendor/llama.cpp/models

Each tokenizer is put together from the file's tokens and merges, and from the normaliser and pre-tokenizer that the model's maker uses (as in their
tokenizer.json, or as `transformers` 5 defines the class). llama.cpp leaves normalisers out, so its own vectors cannot show these.
writes vocabulary.json (next to itself): texts, and for each vocabulary the number of ids of each text and the first 16 digits of the SHA-256 of the ids.
"""

import hashlib
import json
import pathlib
import re
import sys
import unicodedata

import gguf
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

FOLDER = pathlib.Path(__file__).parent
TAIL = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
MARKUP = re.compile(r"^(?:<[|\uff5c].*[|\uff5c]>|</?s>|\[/?[A-Z_]+\]|<(?:start|end)_of_turn>)$")
SHORT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"

PROSE = [
    "Hello, world! It's 9:41 on the 3rd of May; they'll say \u201cno\u201d \u2014 won't they?",
    "Le c\u0153ur d\u00e9\u00e7u mais l'\u00e2me plut\u00f4t na\u00efve, Lou\u00ffs r\u00eava de crapa\u00fcter en cano\u00eb au del\u00e0 des \u00eeles.",
    "Z\u00e1\u017e\u00edt ta kr\u00e1sn\u00e1 \u017elu\u0165ou\u010dk\u00fd k\u016f\u0148 \u00fap\u011bl \u010f\u00e1belsk\u00e9 \u00f3dy.",
    "T\u1ea5t c\u1ea3 m\u1ecdi ng\u01b0\u1eddi sinh ra \u0111\u1ec1u \u0111\u01b0\u1ee3c t\u1ef1 do v\u00e0 b\u00ecnh \u0111\u1eb3ng.",
    "\u0391\u03c0\u03cc \u03c4\u03b7\u03bd \u03ac\u03ba\u03c1\u03b7, \u1f10\u03bd \u1f00\u03c1\u03c7\u1fc7 \u1f26\u03bd \u1f41 \u03bb\u03cc\u03b3\u03bf\u03c2. \u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2 \u03a3",
    "\u0421\u044a\u0435\u0448\u044c \u0436\u0435 \u0435\u0449\u0451 \u044d\u0442\u0438\u0445 \u043c\u044f\u0433\u043a\u0438\u0445 \u0431\u0443\u043b\u043e\u043a, \u0439\u043e\u0434 \u0438 \u0407\u0436\u0430\u043a \u2116 5.",
    "\u05e2\u05d8\u05dc\u05e3 \u05d0\u05d1\u05e7 \u05e0\u05e1 \u05d3\u05e8\u05da \u05de\u05d6\u05d2\u05df \u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd",
    "\u0635\u0650\u0641 \u062e\u064e\u0644\u0642\u064e \u062e\u064e\u0648\u062f\u0650 \u0643\u064e\u0645\u0650\u062b\u0644\u0650 \u0627\u0644\u0634\u064e\u0645\u0633 \u0664\u0665\u0666",
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u092e\u0947\u0902 \u0932\u093f\u0916\u093e \u0939\u0941\u0906 \u0935\u093e\u0915\u094d\u092f \u0915\u093c \u0921\u093c \u0967\u0968\u0969",
    "\u0e40\u0e1b\u0e47\u0e19\u0e21\u0e19\u0e38\u0e29\u0e22\u0e4c\u0e2a\u0e38\u0e14\u0e1b\u0e23\u0e30\u0e40\u0e2a\u0e23\u0e34\u0e10\u0e40\u0e25\u0e34\u0e28\u0e04\u0e38\u0e13\u0e04\u0e48\u0e32",
    "\u3044\u308d\u306f\u306b\u307b\u3078\u3068 \u30c1\u30ea\u30cc\u30eb\u30f2 \u304c\u304e\u3050 \u30d1\u30d4\u30d7 \u5b57\u3001\u6f22\u5b57\u3068\u4eee\u540d\u306e\u6df7\u305c\u66f8\u304d\u3002",
    "\u5929\u5730\u7384\u9ec4\uff0c\u5b87\u5b99\u6d2a\u8352\u3002\u4e2d\u6587\u5206\u8bcd\u9700\u8981\u6ce8\u610f\uff1a\u300a\u8bf4\u660e\u300b\uff012026\u5e74\u3002",
    "\ub2e4\ub78c\uc950 \ud5cc \uccc7\ubc14\ud034\uc5d0 \ud0c0\uace0\ud30c. \ud55c\uad6d\uc5b4 \ubb38\uc7a5\uc785\ub2c8\ub2e4.",
    "\U0001f680 \U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f3f3\ufe0f\u200d\U0001f308 \U0001f468\U0001f3fd\u200d\U0001f4bb \U0001f1e9\U0001f1ea \u2705 \u260e\ufe0f 1\ufe0f\u20e3",
    "\ufb01le \u212b \u2126 \u1e9b\u0323 \u00bd \u2460 \uff21\uff22\uff23 \u33a5 \u0132ssel \u01c5",
]
CODE = [
    "def f(a, b=None):\n    return [x ** 2 for x in range(10) if x % 2 == 0]  # comment\n\n\n",
    "\tif (x != NULL) {\r\n\t\tfree(x); /* \u00e9 */\r\n\t}\r\n",
    "SELECT * FROM t WHERE a >= 1e-9 AND b LIKE '%x_%' -- $HOME ${y} {{ z }}\n",
    "https://example.org/a_b-c?d=1&e=%20#f user@host.example C:\\dir\\file.txt 0xDEADBEEF 1,234,567.89",
    "a\u00a0b\u2003c\u3000d\u200be\u0085f\ufeffg\u2028h \t \n  \n\n   i   ",
    "<|im_start|>user\nquoted<|im_end|> <s> </s> [INST] <bos>",
]
LONG = [["a", 3000], [" ", 3000], ["\n", 700], ["=", 3000], ["7", 1000], ["ab", 1500], ["\u7684", 1000], ["\u0301", 300], ["\U0001f469\u200d\U0001f467", 300], ["A", 777], ["\u3042\u3099", 200]]


def texts():
    plain = PROSE + CODE
    decomposed = [form for text in plain if (form := unicodedata.normalize("NFD", text)) != text]
    return [{"text": text} for text in plain + decomposed] + [{"repeat": part, "times": times} for part, times in LONG]


def text_of(entry):
    return entry["text"] if "text" in entry else entry["repeat"] * entry["times"]


def split(*expressions):
    parts = [pre_tokenizers.Split(Regex(each), "isolated") for each in expressions]
    return pre_tokenizers.Sequence([*parts, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def gpt2(*before):
    return pre_tokenizers.Sequence([*before, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])


DIGITS = pre_tokenizers.Digits(individual_digits=True)
LETTERS = r"|[^\r\n\p{L}\p{N}]?\p{L}+|"
QWEN35 = r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
# Each with its pre-tokenizer, whether it composes, and whether whole pieces are looked up first.
BYTE_LEVEL = {
    "gpt-2": (gpt2(), False, False),
    "starcoder": (gpt2(DIGITS), False, False),
    "refact": (gpt2(DIGITS), False, False),
    "command-r": (gpt2(DIGITS), True, False),
    "mpt": (gpt2(), True, False),
    "falcon": (
        pre_tokenizers.Sequence(
            [
                pre_tokenizers.Punctuation("contiguous"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
                pre_tokenizers.Digits(individual_digits=False),
                pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
            ]
        ),
        False,
        False,
    ),
    "deepseek-coder": (split(r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", r"\p{N}"), False, False),
    "llama-bpe": (split(SHORT + LETTERS + r"\p{N}{1,3}|" + TAIL), False, True),
    "qwen2": (split(SHORT + LETTERS + r"\p{N}|" + TAIL), True, False),
    "qwen35": (split(SHORT + QWEN35), True, False),
}


def byte_level(tokens, merges, recipe):
    before, composes, ignore = recipe
    tokenizer = Tokenizer(models.BPE({text: id for id, text in enumerate(tokens)}, merges, ignore_merges=ignore))
    if composes:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = before
    return tokenizer


def merges_of_scores(tokens, scores):
    """As `transformers` makes merges of a SentencePiece vocabulary: every way to part a token into two, by the token's score."""
    ids = {text: id for id, text in enumerate(tokens)}
    found = []
    for text, id in ids.items():
        for at in range(1, len(text)):
            left, right = text[:at], text[at:]
            if left in ids and right in ids:
                found.append((-scores[id], ids[left], ids[right], left, right))
    return [(left, right) for *_, left, right in sorted(found)]


def characters(tokens, merges, prefix):
    model = models.BPE({text: id for id, text in enumerate(tokens)}, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    tokenizer = Tokenizer(model)
    replace = normalizers.Replace(" ", "\u2581")
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), replace]) if prefix else replace
    return tokenizer


def word_piece(tokens):
    words = [text[1:] if text.startswith("\u2581") else text if text.startswith("[") and len(text) > 1 else "##" + text for text in tokens]
    tokenizer = Tokenizer(models.WordPiece({text: id for id, text in enumerate(words)}, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def values(fields, key):
    return fields[f"tokenizer.ggml.{key}"].contents()


def merges_of(fields):
    return [tuple(line.split(" ", 1)) for line in values(fields, "merges")]


def build(name, fields):
    tokens = values(fields, "tokens")
    if name in BYTE_LEVEL:
        return byte_level(tokens, merges_of(fields), BYTE_LEVEL[name])
    if name == "gemma-4":
        return characters(tokens, merges_of(fields), False)
    if name in ("llama-spm", "phi-3"):
        return characters(tokens, merges_of_scores(tokens, values(fields, "scores")), True)
    if name == "bert-bge":
        return word_piece(tokens)
    return None


def main():
    entries = texts()
    golden = {"texts": entries, "vocabularies": {}}
    for path in sorted(pathlib.Path(sys.argv[1]).glob("ggml-vocab-*.gguf")):
        name = path.stem.removeprefix("ggml-vocab-")
        fields = gguf.GGUFReader(path).fields
        tokenizer = build(name, fields)
        if tokenizer is None:
            continue
        # User-defined tokens split the text before all else; those that look like turn markup are left out: Halogen takes these as text here.
        defined = [text for text, kind in zip(values(fields, "tokens"), values(fields, "token_type")) if kind == 4 and not MARKUP.match(text)]
        tokenizer.add_tokens([AddedToken(text, normalized=False, special=False) for text in defined])
        rows = []
        for entry in entries:
            ids = tokenizer.encode(text_of(entry), add_special_tokens=False).ids
            rows.append([len(ids), hashlib.sha256(",".join(map(str, ids)).encode()).hexdigest()[:16]])
        golden["vocabularies"][name] = rows
        print(name, sum(count for count, _ in rows))
    (FOLDER / "vocabulary.json").write_text(json.dumps(golden, ensure_ascii=True, separators=(",", ":")) + "\n")


main()
