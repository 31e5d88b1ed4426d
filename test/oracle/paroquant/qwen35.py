"""Qwen3.5 (dense and with experts) in numpy and double precision, token after token, from Hugging Face weights.

Independent of the engine and of torch. `check_against_transformers` holds it to the logits of `transformers` in
test/fixtures/architecture before anything is made with it.
"""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "architecture"))
import hybrid  # noqa: E402


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def rms(x, weight, eps):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def rotate_half(x, position, rotated, base):
    """x [heads, head_dim]: the first `rotated` dimensions turn, halves paired."""
    half = rotated // 2
    angle = position * base ** (-2.0 * np.arange(half) / rotated)
    a, b = x[:, :half].copy(), x[:, half:rotated].copy()
    x[:, :half] = a * np.cos(angle) - b * np.sin(angle)
    x[:, half:rotated] = b * np.cos(angle) + a * np.sin(angle)
    return x


class Model:
    def __init__(self, config, weights, root):
        self.c, self.root = config, root
        self.w = {name: np.asarray(value, dtype=np.float64) for name, value in weights.items()}
        self.eps = config["rms_norm_eps"]
        self.state = [{} for _ in range(config["num_hidden_layers"])]

    def get(self, *parts):
        return self.w[self.root + ".".join(parts)]

    def logits(self, tokens):
        return np.stack([self.step(token, position) for position, token in enumerate(tokens)])

    def step(self, token, position):
        x = self.get("embed_tokens.weight")[token].copy()
        for i in range(self.c["num_hidden_layers"]):
            layer = f"layers.{i}"
            h = rms(x, 1 + self.get(layer, "input_layernorm.weight"), self.eps)
            mix = self.delta if self.c["layer_types"][i] == "linear_attention" else self.attention
            x = x + mix(layer, self.state[i], h, position)
            h = rms(x, 1 + self.get(layer, "post_attention_layernorm.weight"), self.eps)
            x = x + (self.experts(layer, h) if "num_experts" in self.c else self.swiglu(f"{layer}.mlp", h))
        return self.w["lm_head.weight"] @ rms(x, 1 + self.get("norm.weight"), self.eps)

    def swiglu(self, base, h):
        gate, up = self.get(base, "gate_proj.weight") @ h, self.get(base, "up_proj.weight") @ h
        return self.get(base, "down_proj.weight") @ (silu(gate) * up)

    def experts(self, layer, h):
        base = f"{layer}.mlp"
        scores = self.get(base, "gate.weight") @ h
        scores = np.exp(scores - scores.max())
        scores /= scores.sum()
        chosen = np.argsort(-scores, kind="stable")[: self.c["num_experts_per_tok"]]
        shares = scores[chosen] / scores[chosen].sum()
        out = sum(share * self.swiglu(f"{base}.experts.{e}", h) for share, e in zip(shares, chosen))
        gate = sigmoid(self.get(base, "shared_expert_gate.weight")[0] @ h)
        return out + gate * self.swiglu(f"{base}.shared_expert", h)

    def attention(self, layer, state, h, position):
        c, base = self.c, f"{layer}.self_attn"
        heads, kv, dim = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
        rope = c["rope_parameters"]
        rotated, theta = int(dim * rope["partial_rotary_factor"]), rope["rope_theta"]
        both = (self.get(base, "q_proj.weight") @ h).reshape(heads, 2, dim)
        q, gate = both[:, 0], both[:, 1]
        k = (self.get(base, "k_proj.weight") @ h).reshape(kv, dim)
        v = (self.get(base, "v_proj.weight") @ h).reshape(kv, dim)
        q = rotate_half(rms(q, 1 + self.get(base, "q_norm.weight"), self.eps), position, rotated, theta)
        k = rotate_half(rms(k, 1 + self.get(base, "k_norm.weight"), self.eps), position, rotated, theta)
        state.setdefault("k", []).append(k)
        state.setdefault("v", []).append(v)
        keys, values = np.stack(state["k"]), np.stack(state["v"])
        out = np.zeros((heads, dim))
        for head in range(heads):
            group = head // (heads // kv)
            score = keys[:, group] @ q[head] / np.sqrt(dim)
            score = np.exp(score - score.max())
            out[head] = score / score.sum() @ values[:, group]
        return self.get(base, "o_proj.weight") @ (out * sigmoid(gate)).reshape(-1)

    def delta(self, layer, state, h, _position):
        c, base = self.c, f"{layer}.linear_attn"
        key_heads, value_heads = c["linear_num_key_heads"], c["linear_num_value_heads"]
        key_dim, value_dim, taps = c["linear_key_head_dim"], c["linear_value_head_dim"], c["linear_conv_kernel_dim"]
        u = self.get(base, "in_proj_qkv.weight") @ h
        z = (self.get(base, "in_proj_z.weight") @ h).reshape(value_heads, value_dim)
        beta = sigmoid(self.get(base, "in_proj_b.weight") @ h)
        step = np.logaddexp(0, self.get(base, "in_proj_a.weight") @ h + self.get(base, "dt_bias"))
        decay = np.exp(-np.exp(self.get(base, "A_log")) * step)
        past = state.setdefault("rows", [np.zeros_like(u)] * (taps - 1))
        rows = past + [u]
        state["rows"] = rows[1:]
        kernel = self.get(base, "conv1d.weight").reshape(len(u), taps)
        mixed = silu(sum(kernel[:, tap] * rows[tap] for tap in range(taps)))
        keys = key_heads * key_dim
        unit = lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-6)  # noqa: E731
        q = unit(mixed[:keys].reshape(key_heads, key_dim)) / np.sqrt(key_dim)
        k = unit(mixed[keys : 2 * keys].reshape(key_heads, key_dim))
        v = mixed[2 * keys :].reshape(value_heads, value_dim)
        memory = state.setdefault("memory", np.zeros((value_heads, key_dim, value_dim)))
        out = np.zeros((value_heads, value_dim))
        for head in range(value_heads):
            group = head // (value_heads // key_heads)
            memory[head] *= decay[head]
            change = beta[head] * (v[head] - k[group] @ memory[head])
            memory[head] += np.outer(k[group], change)
            out[head] = q[group] @ memory[head]
        out = rms(out, self.get(base, "norm.weight"), self.eps) * silu(z)
        return self.get(base, "out_proj.weight") @ out.reshape(-1)


def divergence(expected, actual):
    def log_softmax(x):
        x = x - x.max(-1, keepdims=True)
        return x - np.log(np.exp(x).sum(-1, keepdims=True))

    a, b = log_softmax(expected.astype(np.float64)), log_softmax(actual)
    return float((np.exp(a) * (a - b)).sum(-1).mean())


def check_against_transformers():
    folder = pathlib.Path(__file__).parent.parent.parent / "fixtures" / "architecture"
    for family, build in (("qwen35", hybrid.qwen35), ("qwen35moe", hybrid.qwen35moe)):
        _, _, config, _, weights = build()
        weights = dict(weights)
        split_experts(config, weights)
        golden = json.loads((folder / f"{family}.json").read_text())
        expected = np.fromfile(folder / f"{family}.logits", dtype="<f4").reshape(-1, golden["vocabulary"])
        found = divergence(expected, Model(config, weights, "model.").logits(golden["tokens"]))
        print(f"{family}: KL to transformers {found:.1e} nats per token")
        if not abs(found) < 1e-6:
            raise SystemExit(f"{family}: this forward is wrong")


def split_experts(config, weights):
    """transformers joins the experts of a layer: gate and up rows, then down."""
    for i in range(config["num_hidden_layers"]):
        base = f"model.layers.{i}.mlp."
        both, down = weights.pop(base + "experts.gate_up_proj", None), weights.pop(base + "experts.down_proj", None)
        if both is None:
            continue
        for e in range(len(both)):
            gate, up = np.split(both[e], 2)
            weights[f"{base}experts.{e}.gate_proj.weight"] = gate
            weights[f"{base}experts.{e}.up_proj.weight"] = up
            weights[f"{base}experts.{e}.down_proj.weight"] = down[e]
