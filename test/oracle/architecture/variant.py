"""Forms that files of known families take: rope stretched in several ways, biases where a family may have them, experts in groups."""
import numpy as np
from family import BASE, attention, common, dense, experts, head, pre_norms, rope


def blocks(c, r, s, bias=(), mlp_bias=False, permute=False, qk_norm=False, head_dim=16):
    head(r, s, c)
    for i in range(c["num_hidden_layers"]):
        pre_norms(r, s, c, i)
        attention(r, s, c, i, head_dim, permute=permute, bias=bias, qk_norm=qk_norm)
        dense(r, s, c, i)
        for short, rows in (("gate", 96), ("up", 96), ("down", 64)) if mlp_bias else ():
            s[f"model.layers.{i}.mlp.{short}_proj.bias"] = r.tensor(f"blk.{i}.ffn_{short}.bias", rows, amplitude=0.3)


def phi3(original):
    """The 80 tokens of a golden take the long factors where `original` is shorter; a load of 256 positions must do the same."""
    short = [1.0 + 0.1 * i for i in range(6)]
    long = [1.0 + 1.5 * i for i in range(6)]
    c = dict(BASE, intermediate_size=96, tie_word_embeddings=False, sliding_window=None, pad_token_id=0,
             original_max_position_embeddings=original,
             rope_parameters=rope(partial_rotary_factor=0.75, original_max_position_embeddings=original, short_factor=short,
                                  long_factor=long) | {"rope_type": "longrope"})
    factor = float(np.sqrt(1 + np.log(4096 / original) / np.log(original)))
    r = common("phi3", c, 16, {"rope.dimension_count": 12, "rope.scaling.type": "longrope", "rope.scaling.attn_factor": factor,
                               "rope.scaling.original_context_length": original})
    r.literal("rope_factors_long.weight", long)
    r.literal("rope_factors_short.weight", short)
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


YARN = dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=64)


def qwen3_yarn():
    c = dict(BASE, intermediate_size=96, head_dim=32, tie_word_embeddings=True, rope_parameters=dict(YARN), use_sliding_window=False)
    r = common("qwen3", c, 32, {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0,
                                "rope.scaling.original_context_length": 64})
    s = {}
    blocks(c, r, s, qk_norm=True, head_dim=32)
    return "Qwen3ForCausalLM", "Qwen3Config", c, r, s


def mistral3():
    """Queries grow with the logarithm of the position, in steps of the original context."""
    c = dict(BASE, intermediate_size=96, head_dim=16, tie_word_embeddings=False,
             rope_parameters=dict(YARN, factor=16.0, original_max_position_embeddings=16, beta_fast=32.0, beta_slow=1.0, mscale=1.0,
                                  mscale_all_dim=1.0, llama_4_scaling_beta=0.5))
    r = common("mistral3", c, 16, {"rope.scaling.type": "yarn", "rope.scaling.factor": 16.0, "rope.scaling.yarn_beta_fast": 32.0,
                                   "rope.scaling.yarn_beta_slow": 1.0, "rope.scaling.yarn_log_multiplier": 1.0,
                                   "rope.scaling.original_context_length": 16, "attention.temperature_scale": 0.5})
    s = {}
    blocks(c, r, s, permute=True)
    return "Ministral3ForCausalLM", "Ministral3Config", c, r, s


def llama_bias():
    c = dict(BASE, intermediate_size=96, head_dim=16, tie_word_embeddings=False, attention_bias=True, mlp_bias=True, rope_parameters=rope())
    r = common("llama", c, 16, {})
    s = {}
    blocks(c, r, s, bias=("v", "o"), mlp_bias=True, permute=True)
    for i in range(2):  # their rows are in the order of the weights' rows
        for short, heads in (("q", 4), ("k", 2)):
            bias = r.tensor(f"blk.{i}.attn_{short}.bias", heads * 16, amplitude=0.5)
            s[f"model.layers.{i}.self_attn.{short}_proj.bias"] = bias.reshape(heads, 8, 2).swapaxes(1, 2).reshape(-1)
    return "LlamaForCausalLM", "LlamaConfig", c, r, s


def glm4moe_groups():
    c = dict(BASE, num_hidden_layers=2, intermediate_size=96, head_dim=16, attention_bias=False, use_qk_norm=False,
             moe_intermediate_size=32, n_routed_experts=8, num_experts_per_tok=3, n_shared_experts=1, n_group=4, topk_group=2,
             first_k_dense_replace=0, norm_topk_prob=True, routed_scaling_factor=1.5, tie_word_embeddings=False,
             num_mtp_layers=0, rope_parameters=rope(partial_rotary_factor=0.5))
    r = common("glm4moe", c, 16, {"rope.dimension_count": 8, "expert_count": 8, "expert_used_count": 3, "expert_group_count": 4,
                                  "expert_group_used_count": 2, "expert_feed_forward_length": 32, "expert_shared_count": 1,
                                  "leading_dense_block_count": 0, "expert_weights_scale": 1.5, "expert_weights_norm": True,
                                  "expert_gating_func": 2})
    s = {}
    head(r, s, c)
    for i in range(2):
        pre_norms(r, s, c, i, ffn_norm="post_attention_norm")
        attention(r, s, c, i, 16)
        experts(r, s, c, i, 8, 32)
        s[f"model.layers.{i}.mlp.gate.e_score_correction_bias"] = r.tensor(f"blk.{i}.exp_probs_b.bias", 8, amplitude=0.2)
        dense(r, s, c, i, width=32, prefix="mlp.shared_experts.", suffix="_shexp")
    return "Glm4MoeForCausalLM", "Glm4MoeConfig", c, r, s
