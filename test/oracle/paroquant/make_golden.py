#!/usr/bin/env python3
"""Writes test/fixtures/paroquant/<family>.json (how to make a tiny ParoQuant folder) and .logits (float32).

Needs numpy alone. Run: python test/oracle/paroquant/make_golden.py [FOLDER]; with FOLDER it also writes the model folders
there. The logits are those of qwen35.py with every quantised matrix written out: the codes minus zero points times
scales, times the rotation as a matrix, times the channel scales. Weights are hashes of names (architecture/portable.py);
test/fixtures/paroquant.ts makes the same bytes.
"""
import json
import pathlib
import struct
import sys

import numpy as np
from qwen35 import Model, check_against_transformers
from portable import fnv1a64, splitmix64, tokens, values

GROUP, ROUNDS, VOCABULARY, COUNT = 128, 8, 256, 72
NIBBLES = (0, 2, 4, 6, 1, 3, 5, 7)  # output column of each nibble of a word


def bits(name, count):
    with np.errstate(over="ignore"):
        return splitmix64(np.uint64(fnv1a64(name)) + np.arange(count, dtype=np.uint64))


class Recipe:
    """Every tensor by a rule that the test follows too."""

    def __init__(self):
        self.tensors, self.arrays = [], {}

    def floats(self, name, dtype, shape, mean, amplitude):
        self.tensors.append({"name": name, "dtype": dtype, "shape": shape, "mean": mean, "amplitude": amplitude})
        x = values(name, int(np.prod(shape)), mean, amplitude)
        if dtype == "BF16":
            x = (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        elif dtype == "F16":
            x = x.astype(np.float16)
        self.arrays[name] = (dtype, x.reshape(shape))
        return x.reshape(shape).astype(np.float64)

    def words(self, name, shape, zeros):
        self.tensors.append({"name": name, "dtype": "I32", "shape": shape, "zeros": zeros})
        x = (bits(name, int(np.prod(shape))) >> np.uint64(32)).astype(np.uint32)
        if zeros:  # six to nine, as real ones are
            x = (x & np.uint32(0x33333333)) + np.uint32(0x66666666)
        self.arrays[name] = ("I32", x.reshape(shape))
        return x.reshape(shape)

    def pairs(self, name, columns):
        self.tensors.append({"name": name, "dtype": "I16", "shape": [ROUNDS, columns]})
        keys = bits(name, ROUNDS * columns).reshape(ROUNDS, columns // GROUP, GROUP)
        x = np.argsort(keys, axis=-1, kind="stable").astype(np.int16).reshape(ROUNDS, columns)
        self.arrays[name] = ("I16", x)
        return x


def unpack(words):
    out = np.zeros((*words.shape, 8), dtype=np.int64)
    for nibble, column in enumerate(NIBBLES):
        out[..., column] = words >> np.uint32(4 * nibble) & np.uint32(15)
    return out.reshape(words.shape[0], -1)


def rotation(recipe, base, columns):
    """The rotation and channel scales of an input as one matrix."""
    theta = recipe.floats(base + "theta", "F16", [ROUNDS, columns // 2], 0.0, 1.5)
    pairs = recipe.pairs(base + "pairs", columns)
    scales = recipe.floats(base + "channel_scales", "F16", [1, columns], 1.0, 0.4)
    matrix = np.diag(scales[0])
    for turn in range(ROUNDS):
        step = np.eye(columns)
        for p in range(columns // 2):
            start = 2 * p // GROUP * GROUP
            i, j = start + pairs[turn, 2 * p], start + pairs[turn, 2 * p + 1]
            cosine, sine = np.cos(theta[turn, p]), np.sin(theta[turn, p])
            step[i, i], step[i, j], step[j, i], step[j, j] = cosine, sine, -sine, cosine
        matrix = step @ matrix
    return matrix


def quantised(recipe, base, columns, rows):
    """W [rows][columns], as the rotated input meets it."""
    codes = unpack(recipe.words(base + ".qweight", [columns, rows // 8], False))
    zeros = unpack(recipe.words(base + ".qzeros", [columns // GROUP, rows // 8], True))
    scales = recipe.floats(base + ".scales", "F16", [columns // GROUP, rows], 0.019, 0.006)
    return ((codes - np.repeat(zeros, GROUP, axis=0)) * np.repeat(scales, GROUP, axis=0)).T


def config_of(experts, layers):
    text = {
        "model_type": "qwen3_5_moe_text" if experts else "qwen3_5_text", "hidden_size": 128, "vocab_size": VOCABULARY,
        "num_hidden_layers": layers, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32,
        "max_position_embeddings": 4096, "rms_norm_eps": 1e-6, "tie_word_embeddings": False,
        "linear_conv_kernel_dim": 4, "linear_key_head_dim": 32, "linear_value_head_dim": 64, "linear_num_key_heads": 2,
        "linear_num_value_heads": 4, "layer_types": ["linear_attention"] * (layers - 1) + ["full_attention"],
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25},
    }  # fmt: skip
    if experts:
        text.update(moe_intermediate_size=128, shared_expert_intermediate_size=128, num_experts=6, num_experts_per_tok=2)
    else:
        text.update(intermediate_size=256)
    return {
        "architectures": ["Qwen3_5MoeForConditionalGeneration" if experts else "Qwen3_5ForConditionalGeneration"],
        "model_type": "qwen3_5_moe" if experts else "qwen3_5", "text_config": text,
        "quantization_config": {"quant_method": "paroquant", "bits": 4, "group_size": GROUP, "krot": ROUNDS},
    }  # fmt: skip


def build(config):
    c, recipe, weights, root = config["text_config"], Recipe(), {}, "model.language_model."
    d, dim, heads, kv = c["hidden_size"], c["head_dim"], c["num_attention_heads"], c["num_key_value_heads"]
    keys = c["linear_num_key_heads"] * c["linear_key_head_dim"]
    inner = c["linear_num_value_heads"] * c["linear_value_head_dim"]

    def plain(name, shape, mean=0.0, amplitude=None, dtype="BF16"):
        amplitude = round(float(np.sqrt(3.0 / shape[-1])), 6) if amplitude is None else amplitude
        weights[name] = recipe.floats(name, dtype, shape, mean, amplitude)

    def linear(base, columns, rows):
        weights[base + ".weight"] = quantised(recipe, base, columns, rows) @ rotation(recipe, base + ".", columns)

    plain(root + "embed_tokens.weight", [VOCABULARY, d], amplitude=1.0)
    plain(root + "norm.weight", [d], amplitude=0.3)
    plain("lm_head.weight", [VOCABULARY, d])
    for i in range(c["num_hidden_layers"]):
        layer = f"{root}layers.{i}."
        plain(layer + "input_layernorm.weight", [d], amplitude=0.3)
        plain(layer + "post_attention_layernorm.weight", [d], amplitude=0.3)
        if c["layer_types"][i] == "linear_attention":
            base = layer + "linear_attn."
            linear(base + "in_proj_qkv", d, 2 * keys + inner)
            linear(base + "in_proj_z", d, inner)
            linear(base + "out_proj", inner, d)
            for part in ("a", "b"):
                plain(f"{base}in_proj_{part}.weight", [c["linear_num_value_heads"], d])
            plain(base + "conv1d.weight", [2 * keys + inner, 1, 4], amplitude=0.6)
            plain(base + "dt_bias", [c["linear_num_value_heads"]], amplitude=1.0)
            plain(base + "A_log", [c["linear_num_value_heads"]], mean=-0.3, amplitude=1.0, dtype="F32")
            plain(base + "norm.weight", [c["linear_value_head_dim"]], mean=1.0, amplitude=0.3, dtype="F32")
        else:
            base = layer + "self_attn."
            linear(base + "q_proj", d, 2 * heads * dim)
            linear(base + "k_proj", d, kv * dim)
            linear(base + "v_proj", d, kv * dim)
            linear(base + "o_proj", heads * dim, d)
            plain(base + "q_norm.weight", [dim], amplitude=0.3)
            plain(base + "k_norm.weight", [dim], amplitude=0.3)
        base = layer + "mlp."
        if "num_experts" not in c:
            linear(base + "gate_proj", d, c["intermediate_size"])
            linear(base + "up_proj", d, c["intermediate_size"])
            linear(base + "down_proj", c["intermediate_size"], d)
            continue
        width = c["moe_intermediate_size"]
        plain(base + "gate.weight", [c["num_experts"], d])
        into = rotation(recipe, base + "experts.gate_up_weight_", d)
        back = rotation(recipe, base + "experts.down_weight_", width)
        for e in range(c["num_experts"]):
            one = f"{base}experts.{e}."
            weights[one + "gate_proj.weight"] = quantised(recipe, one + "gate_proj", d, width) @ into
            weights[one + "up_proj.weight"] = quantised(recipe, one + "up_proj", d, width) @ into
            weights[one + "down_proj.weight"] = quantised(recipe, one + "down_proj", width, d) @ back
        linear(base + "shared_expert.gate_proj", d, c["shared_expert_intermediate_size"])
        linear(base + "shared_expert.up_proj", d, c["shared_expert_intermediate_size"])
        # As z-lab's own checkpoint has it: this one is not quantised.
        plain(base + "shared_expert.down_proj.weight", [d, c["shared_expert_intermediate_size"]], dtype="F16")
        plain(base + "shared_expert_gate.weight", [1, d])
    return recipe, weights, root


def encoded(dtype, array):
    if dtype == "BF16":
        return (array.view(np.uint32) >> np.uint32(16)).astype("<u2").tobytes()
    return np.ascontiguousarray(array).astype({"F32": "<f4", "F16": "<f2", "I32": "<u4", "I16": "<i2"}[dtype]).tobytes()


def write_folder(folder, config, recipe):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    header, data = {}, bytearray()
    for name, (dtype, array) in recipe.arrays.items():
        part = encoded(dtype, array)
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    check_against_transformers()
    fixtures = pathlib.Path(__file__).parent.parent.parent / "fixtures" / "paroquant"
    fixtures.mkdir(exist_ok=True)
    for family, experts, layers in (("qwen35", False, 2), ("qwen35moe", True, 3)):
        config = config_of(experts, layers)
        recipe, weights, root = build(config)
        ids = tokens("paroquant/" + family, COUNT, VOCABULARY)
        logits = Model(config["text_config"], weights, root).logits(ids).astype("<f4")
        spread = logits.astype(np.float64) - logits.max(-1, keepdims=True)
        chance = np.exp(spread) / np.exp(spread).sum(-1, keepdims=True)
        entropy = -(chance * np.log(chance)).sum(-1).mean()
        print(f"{family}: {len(recipe.tensors)} tensors, mean entropy {entropy:.2f} nats")
        golden = {"tokens": [int(t) for t in ids], "vocabulary": VOCABULARY, "config": config, "tensors": recipe.tensors}
        (fixtures / f"{family}.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")
        logits.tofile(fixtures / f"{family}.logits")
        if len(sys.argv) > 1:
            write_folder(pathlib.Path(sys.argv[1]) / family, config, recipe)


if __name__ == "__main__":
    main()
