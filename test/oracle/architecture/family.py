"""Tiny models of each family: the GGUF recipe on one side, the same weights as a transformers state dict on the other.

The GGUF conventions (names, row orders, the +1 of some norms) are the converter's; the numbers come from `transformers`.
"""
import numpy as np
from portable import Recipe

VOCAB = 256


def unpermute(w, heads):
    """GGUF's adjacent-pair row order of q and k back to transformers' half-split order."""
    rows, columns = w.shape
    return w.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def common(arch, c, head_dim, extra):
    meta = {
        "block_count": c["num_hidden_layers"],
        "context_length": 4096,
        "embedding_length": c["hidden_size"],
        "attention.head_count": c["num_attention_heads"],
        "attention.head_count_kv": c["num_key_value_heads"],
        "attention.key_length": head_dim,
        "attention.value_length": head_dim,
        "attention.layer_norm_rms_epsilon": c.get("rms_norm_eps", 1e-6),
        "rope.dimension_count": head_dim,
        "rope.freq_base": 10000.0,
        "vocab_size": VOCAB,
    }
    if "intermediate_size" in c:
        meta["feed_forward_length"] = c["intermediate_size"]
    meta.update(extra)
    return Recipe(arch, meta)


def head(r, s, c, plus_one=0.0, prefix="model."):
    d = c["hidden_size"]
    tied = c.get("tie_word_embeddings", False)
    # As a head, wide embeddings would make every distribution a spike, which no comparison can miss.
    s[prefix + "embed_tokens.weight"] = r.tensor("token_embd.weight", d, VOCAB, amplitude=0.25 if tied else 1.0)
    s[prefix + "norm.weight"] = r.norm("output_norm.weight", d) - plus_one
    if not tied:
        s["lm_head.weight"] = r.tensor("output.weight", d, VOCAB)


def attention(r, s, c, i, head_dim, permute=False, bias=(), qk_norm=False, plus_one=0.0):
    d, hq, hk = c["hidden_size"], c["num_attention_heads"], c["num_key_value_heads"]
    b, p = f"blk.{i}.", f"model.layers.{i}.self_attn."
    for short, heads in (("q", hq), ("k", hk), ("v", hk)):
        w = r.tensor(f"{b}attn_{short}.weight", d, heads * head_dim)
        s[f"{p}{short}_proj.weight"] = unpermute(w, heads) if permute and short != "v" else w
        if short in bias:
            s[f"{p}{short}_proj.bias"] = r.tensor(f"{b}attn_{short}.bias", heads * head_dim, amplitude=0.5)
    s[f"{p}o_proj.weight"] = r.tensor(f"{b}attn_output.weight", hq * head_dim, d)
    if "o" in bias:
        s[f"{p}o_proj.bias"] = r.tensor(f"{b}attn_output.bias", d, amplitude=0.5)
    if qk_norm:
        for short in ("q", "k"):
            s[f"{p}{short}_norm.weight"] = r.norm(f"{b}attn_{short}_norm.weight", head_dim) - plus_one


def pre_norms(r, s, c, i, ffn_norm="ffn_norm", plus_one=0.0):
    d, b, p = c["hidden_size"], f"blk.{i}.", f"model.layers.{i}."
    s[f"{p}input_layernorm.weight"] = r.norm(f"{b}attn_norm.weight", d) - plus_one
    s[f"{p}post_attention_layernorm.weight"] = r.norm(f"{b}{ffn_norm}.weight", d) - plus_one


def dense(r, s, c, i, width=None, prefix="mlp.", suffix=""):
    d, ff = c["hidden_size"], width or c["intermediate_size"]
    b, p = f"blk.{i}.", f"model.layers.{i}.{prefix}"
    s[f"{p}gate_proj.weight"] = r.tensor(f"{b}ffn_gate{suffix}.weight", d, ff)
    s[f"{p}up_proj.weight"] = r.tensor(f"{b}ffn_up{suffix}.weight", d, ff)
    s[f"{p}down_proj.weight"] = r.tensor(f"{b}ffn_down{suffix}.weight", ff, d)


def experts(r, s, c, i, count, width, router_amplitude=None):
    d, b, p = c["hidden_size"], f"blk.{i}.", f"model.layers.{i}.mlp."
    s[f"{p}gate.weight"] = r.tensor(f"{b}ffn_gate_inp.weight", d, count, amplitude=router_amplitude)
    gate = r.tensor(f"{b}ffn_gate_exps.weight", d, width, count)
    up = r.tensor(f"{b}ffn_up_exps.weight", d, width, count)
    s[f"{p}experts.gate_up_proj"] = np.concatenate([gate, up], axis=1)
    s[f"{p}experts.down_proj"] = r.tensor(f"{b}ffn_down_exps.weight", width, d, count)


def shared_expert(r, s, c, i, width):
    dense(r, s, c, i, width=width, prefix="mlp.shared_expert.", suffix="_shexp")
    gate = r.tensor(f"blk.{i}.ffn_gate_inp_shexp.weight", c["hidden_size"])
    s[f"model.layers.{i}.mlp.shared_expert_gate.weight"] = gate.reshape(1, -1)


def rope(theta=10000.0, **extra):
    return {"rope_type": "default", "rope_theta": theta, **extra}


BASE = dict(vocab_size=VOCAB, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            max_position_embeddings=4096, rms_norm_eps=1e-5)


def llama(scaled=False):
    c = dict(BASE, intermediate_size=96, head_dim=16, tie_word_embeddings=True, rope_parameters=rope())
    r = common("llama", c, 16, {})
    if scaled:
        p = dict(rope_type="llama3", rope_theta=10000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                 original_max_position_embeddings=64)
        c["rope_parameters"] = p
        inverse = 1.0 / (10000.0 ** (np.arange(0, 16, 2) / 16))
        length, low, high = 2 * np.pi / inverse, 64 / 1.0, 64 / 4.0
        smooth = (64 / length - 1.0) / (4.0 - 1.0)
        blend = 1.0 / ((1 - smooth) / 8.0 + smooth)
        r.literal("rope_freqs.weight", np.where(length < high, 1.0, np.where(length > low, 8.0, blend)))
    s = {}
    head(r, s, c)
    for i in range(2):
        pre_norms(r, s, c, i)
        attention(r, s, c, i, 16, permute=True)
        dense(r, s, c, i)
    return "LlamaForCausalLM", "LlamaConfig", c, r, s


def mixtral():
    c = dict(BASE, intermediate_size=32, head_dim=16, num_local_experts=8, num_experts_per_tok=2, sliding_window=None,
             tie_word_embeddings=False, rope_parameters=rope())
    r = common("llama", c, 16, {"expert_count": 8, "expert_used_count": 2})
    s = {}
    head(r, s, c)
    for i in range(2):
        pre_norms(r, s, c, i)
        attention(r, s, c, i, 16, permute=True)
        experts(r, s, c, i, 8, 32)
    return "MixtralForCausalLM", "MixtralConfig", c, r, s


def smollm3():
    c = dict(BASE, intermediate_size=96, num_hidden_layers=4, tie_word_embeddings=True, rope_parameters=rope(),
             no_rope_layer_interval=4, use_sliding_window=False, pad_token_id=0)
    r = common("smollm3", c, 16, {})
    s = {}
    head(r, s, c)
    for i in range(4):
        pre_norms(r, s, c, i)
        attention(r, s, c, i, 16, permute=True)
        dense(r, s, c, i)
    return "SmolLM3ForCausalLM", "SmolLM3Config", c, r, s


def qwen2():
    c = dict(BASE, intermediate_size=96, tie_word_embeddings=False, rope_parameters=rope(), use_sliding_window=False)
    r = common("qwen2", c, 16, {})
    s = {}
    head(r, s, c)
    for i in range(2):
        pre_norms(r, s, c, i)
        attention(r, s, c, i, 16, bias=("q", "k", "v"))
        dense(r, s, c, i)
    return "Qwen2ForCausalLM", "Qwen2Config", c, r, s


def qwen2moe():
    c = dict(BASE, intermediate_size=96, moe_intermediate_size=32, shared_expert_intermediate_size=48, num_experts=8,
             num_experts_per_tok=2, norm_topk_prob=False, decoder_sparse_step=1, mlp_only_layers=[], qkv_bias=True,
             tie_word_embeddings=False, rope_parameters=rope(), use_sliding_window=False)
    r = common("qwen2moe", c, 16, {"expert_count": 8, "expert_used_count": 2, "expert_feed_forward_length": 32,
                                   "expert_shared_feed_forward_length": 48})
    s = {}
    head(r, s, c)
    for i in range(2):
        pre_norms(r, s, c, i)
        attention(r, s, c, i, 16, bias=("q", "k", "v"))
        experts(r, s, c, i, 8, 32)
        shared_expert(r, s, c, i, 48)
    return "Qwen2MoeForCausalLM", "Qwen2MoeConfig", c, r, s


def qwen3():
    c = dict(BASE, intermediate_size=96, head_dim=32, tie_word_embeddings=True, rope_parameters=rope(), use_sliding_window=False)
    r = common("qwen3", c, 32, {})
    s = {}
    head(r, s, c)
    for i in range(2):
        pre_norms(r, s, c, i)
        attention(r, s, c, i, 32, qk_norm=True)
        dense(r, s, c, i)
    return "Qwen3ForCausalLM", "Qwen3Config", c, r, s


def qwen3moe():
    c = dict(BASE, intermediate_size=96, head_dim=32, moe_intermediate_size=32, num_experts=8, num_experts_per_tok=2,
             norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[], tie_word_embeddings=False,
             rope_parameters=rope(), use_sliding_window=False)
    r = common("qwen3moe", c, 32, {"expert_count": 8, "expert_used_count": 2, "expert_feed_forward_length": 32})
    s = {}
    head(r, s, c)
    for i in range(2):
        pre_norms(r, s, c, i)
        attention(r, s, c, i, 32, qk_norm=True)
        experts(r, s, c, i, 8, 32)
    return "Qwen3MoeForCausalLM", "Qwen3MoeConfig", c, r, s


def gemma3():
    c = dict(BASE, num_hidden_layers=7, intermediate_size=96, head_dim=32, num_key_value_heads=1, rms_norm_eps=1e-6,
             sliding_window=16, query_pre_attn_scalar=32, tie_word_embeddings=True, hidden_activation="gelu_pytorch_tanh",
             layer_types=["full_attention" if i % 6 == 5 else "sliding_attention" for i in range(7)],
             rope_parameters={"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
                              "sliding_attention": rope(10000.0)})
    r = common("gemma3", c, 32, {"attention.sliding_window": 16, "rope.freq_base": 1000000.0, "rope.scaling.type": "linear",
                                 "rope.scaling.factor": 8.0})
    s = {}
    head(r, s, c, plus_one=1.0)
    for i in range(7):
        b, p = f"blk.{i}.", f"model.layers.{i}."
        for ours, theirs in (("attn_norm", "input_layernorm"), ("post_attention_norm", "post_attention_layernorm"),
                             ("ffn_norm", "pre_feedforward_layernorm"), ("post_ffw_norm", "post_feedforward_layernorm")):
            s[f"{p}{theirs}.weight"] = r.norm(f"{b}{ours}.weight", 64) - 1.0
        attention(r, s, c, i, 32, qk_norm=True, plus_one=1.0)
        dense(r, s, c, i)
    return "Gemma3ForCausalLM", "Gemma3TextConfig", c, r, s


def phi3():
    c = dict(BASE, intermediate_size=96, tie_word_embeddings=False, rope_parameters=rope(partial_rotary_factor=1.0),
             sliding_window=None, pad_token_id=0)
    r = common("phi3", c, 16, {})
    s = {}
    head(r, s, c)
    for i in range(2):
        b, p = f"blk.{i}.", f"model.layers.{i}."
        pre_norms(r, s, c, i)
        s[f"{p}self_attn.qkv_proj.weight"] = r.tensor(f"{b}attn_qkv.weight", 64, (4 + 2 + 2) * 16)
        s[f"{p}self_attn.o_proj.weight"] = r.tensor(f"{b}attn_output.weight", 64, 64)
        s[f"{p}mlp.gate_up_proj.weight"] = r.tensor(f"{b}ffn_up.weight", 64, 2 * 96)
        s[f"{p}mlp.down_proj.weight"] = r.tensor(f"{b}ffn_down.weight", 96, 64)
    return "Phi3ForCausalLM", "Phi3Config", c, r, s


def glm4():
    c = dict(BASE, intermediate_size=96, head_dim=16, attention_bias=True, tie_word_embeddings=False,
             rope_parameters=rope(partial_rotary_factor=0.5), pad_token_id=0)
    r = common("glm4", c, 16, {"rope.dimension_count": 8})
    s = {}
    head(r, s, c)
    for i in range(2):
        b, p = f"blk.{i}.", f"model.layers.{i}."
        for ours, theirs in (("attn_norm", "input_layernorm"), ("post_attention_norm", "post_self_attn_layernorm"),
                             ("ffn_norm", "post_attention_layernorm"), ("post_ffw_norm", "post_mlp_layernorm")):
            s[f"{p}{theirs}.weight"] = r.norm(f"{b}{ours}.weight", 64)
        attention(r, s, c, i, 16, bias=("q", "k", "v"))
        s[f"{p}mlp.gate_up_proj.weight"] = r.tensor(f"{b}ffn_up.weight", 64, 2 * 96)
        s[f"{p}mlp.down_proj.weight"] = r.tensor(f"{b}ffn_down.weight", 96, 64)
    return "Glm4ForCausalLM", "Glm4Config", c, r, s


def glm4moe():
    c = dict(BASE, num_hidden_layers=3, intermediate_size=96, head_dim=16, attention_bias=True, use_qk_norm=True,
             moe_intermediate_size=32, n_routed_experts=8, num_experts_per_tok=2, n_shared_experts=1, n_group=1, topk_group=1,
             first_k_dense_replace=1, norm_topk_prob=True, routed_scaling_factor=1.5, tie_word_embeddings=False,
             num_mtp_layers=0, rope_parameters=rope(partial_rotary_factor=0.5))
    r = common("glm4moe", c, 16, {"rope.dimension_count": 8, "expert_count": 8, "expert_used_count": 2,
                                  "expert_feed_forward_length": 32, "expert_shared_count": 1, "leading_dense_block_count": 1,
                                  "expert_weights_scale": 1.5, "expert_weights_norm": True, "expert_gating_func": 2})
    s = {}
    head(r, s, c)
    for i in range(3):
        pre_norms(r, s, c, i, ffn_norm="post_attention_norm")
        attention(r, s, c, i, 16, bias=("q", "k", "v"), qk_norm=True)
        if i < 1:
            dense(r, s, c, i)
        else:
            experts(r, s, c, i, 8, 32)
            s[f"model.layers.{i}.mlp.gate.e_score_correction_bias"] = r.tensor(f"blk.{i}.exp_probs_b.bias", 8, amplitude=0.2)
            dense(r, s, c, i, width=32, prefix="mlp.shared_experts.", suffix="_shexp")
    return "Glm4MoeForCausalLM", "Glm4MoeConfig", c, r, s


def gptoss(rounded=False):
    """`rounded`: the YaRN ramp between whole dimensions, as llama.cpp computes it; the makers' own configuration does not round."""
    c = dict(BASE, num_hidden_layers=4, intermediate_size=32, head_dim=16, num_local_experts=8, num_experts_per_tok=2,
             sliding_window=16, tie_word_embeddings=False, attention_bias=True,
             layer_types=["sliding_attention" if i % 2 == 0 else "full_attention" for i in range(4)],
             rope_parameters=dict(rope_type="yarn", rope_theta=150000.0, factor=32.0, beta_fast=32.0, beta_slow=1.0, truncate=rounded,
                                  original_max_position_embeddings=64))
    r = common("gpt-oss", c, 16, {"rope.freq_base": 150000.0, "attention.sliding_window": 16, "expert_count": 8,
                                  "expert_used_count": 2, "expert_feed_forward_length": 32, "rope.scaling.type": "yarn",
                                  "rope.scaling.factor": 32.0, "rope.scaling.original_context_length": 64})
    s = {}
    head(r, s, c)
    for i in range(4):
        b, p = f"blk.{i}.", f"model.layers.{i}."
        pre_norms(r, s, c, i, ffn_norm="post_attention_norm")
        attention(r, s, c, i, 16, bias=("q", "k", "v", "o"))
        s[f"{p}self_attn.sinks"] = r.tensor(f"{b}attn_sinks.weight", 4, amplitude=1.0)
        s[f"{p}mlp.router.weight"] = r.tensor(f"{b}ffn_gate_inp.weight", 64, 8)
        s[f"{p}mlp.router.bias"] = r.tensor(f"{b}ffn_gate_inp.bias", 8, amplitude=0.3)
        parts = {k: r.tensor(f"{b}ffn_{k}_exps.weight", 64, 32, 8) for k in ("gate", "up")}
        biases = {k: r.tensor(f"{b}ffn_{k}_exps.bias", 32, 8, amplitude=0.3) for k in ("gate", "up")}
        # transformers keeps gate and up interleaved along the output dimension, with the input dimension first
        s[f"{p}mlp.experts.gate_up_proj"] = np.stack([parts["gate"], parts["up"]], axis=2).reshape(8, 64, 64).swapaxes(1, 2)
        s[f"{p}mlp.experts.gate_up_proj_bias"] = np.stack([biases["gate"], biases["up"]], axis=2).reshape(8, 64)
        s[f"{p}mlp.experts.down_proj"] = r.tensor(f"{b}ffn_down_exps.weight", 32, 64, 8).swapaxes(1, 2)
        s[f"{p}mlp.experts.down_proj_bias"] = r.tensor(f"{b}ffn_down_exps.bias", 64, 8, amplitude=0.3)
    return "GptOssForCausalLM", "GptOssConfig", c, r, s
