"""Tiny models of the Gated DeltaNet families (qwen35, qwen35moe, qwen3next)."""
import numpy as np
from family import BASE, common, dense, experts, head, pre_norms, rope, shared_expert

KEY_HEADS, VALUE_HEADS, STATE = 2, 4, 16


def grouped(x, axis=0):
    """GGUF's tiled order of value heads (head h reads key head h mod K) to transformers' grouped order (h div (V / K))."""
    ratio = VALUE_HEADS // KEY_HEADS
    order = [j * KEY_HEADS + k for k in range(KEY_HEADS) for j in range(ratio)]
    shape = list(x.shape)
    split = x.reshape(shape[:axis] + [VALUE_HEADS, shape[axis] // VALUE_HEADS] + shape[axis + 1:])
    return np.take(split, order, axis=axis).reshape(shape)


def gated_attention(r, s, c, i):
    d, hq, hk, hd = c["hidden_size"], c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
    b, p = f"blk.{i}.", f"model.layers.{i}.self_attn."
    s[f"{p}q_proj.weight"] = r.tensor(f"{b}attn_q.weight", d, 2 * hq * hd)
    s[f"{p}k_proj.weight"] = r.tensor(f"{b}attn_k.weight", d, hk * hd)
    s[f"{p}v_proj.weight"] = r.tensor(f"{b}attn_v.weight", d, hk * hd)
    s[f"{p}q_norm.weight"] = r.norm(f"{b}attn_q_norm.weight", hd) - 1.0
    s[f"{p}k_norm.weight"] = r.norm(f"{b}attn_k_norm.weight", hd) - 1.0
    s[f"{p}o_proj.weight"] = r.tensor(f"{b}attn_output.weight", hq * hd, d)


def delta_net(r, s, c, i, tiled):
    d, key, value = c["hidden_size"], KEY_HEADS * STATE, VALUE_HEADS * STATE
    b, p = f"blk.{i}.", f"model.layers.{i}.linear_attn."
    order = grouped if tiled else (lambda x, axis=0: x)
    qkv = r.tensor(f"{b}attn_qkv.weight", d, 2 * key + value)
    z = r.tensor(f"{b}attn_gate.weight", d, value)
    conv = r.tensor(f"{b}ssm_conv1d.weight", 4, 2 * key + value, amplitude=0.6)
    dt = r.tensor(f"{b}ssm_dt.bias", VALUE_HEADS, mean=0.0, amplitude=1.0)
    a = r.tensor(f"{b}ssm_a", VALUE_HEADS, mean=-1.0, amplitude=0.8)
    s[f"{p}norm.weight"] = r.norm(f"{b}ssm_norm.weight", STATE)
    s[f"{p}out_proj.weight"] = order(r.tensor(f"{b}ssm_out.weight", value, d), axis=1)
    s[f"{p}conv1d.weight"] = np.concatenate([conv[: 2 * key], order(conv[2 * key:])]).reshape(-1, 1, 4)
    s[f"{p}dt_bias"] = order(dt)
    s[f"{p}A_log"] = order(np.log(-a))
    if tiled:
        s[f"{p}in_proj_qkv.weight"] = np.concatenate([qkv[: 2 * key], grouped(qkv[2 * key:])])
        s[f"{p}in_proj_z.weight"] = grouped(z)
        s[f"{p}in_proj_a.weight"] = grouped(r.tensor(f"{b}ssm_alpha.weight", d, VALUE_HEADS))
        s[f"{p}in_proj_b.weight"] = grouped(r.tensor(f"{b}ssm_beta.weight", d, VALUE_HEADS))
        return
    # qwen3next interleaves q, k, v and z per key head in transformers; the GGUF keeps them apart, and b | a per key head.
    ratio = VALUE_HEADS // KEY_HEADS
    q, k, v = qkv[:key], qkv[key: 2 * key], qkv[2 * key:]
    parts = []
    for h in range(KEY_HEADS):
        parts += [q[h * STATE: (h + 1) * STATE], k[h * STATE: (h + 1) * STATE],
                  v[h * ratio * STATE: (h + 1) * ratio * STATE], z[h * ratio * STATE: (h + 1) * ratio * STATE]]
    s[f"{p}in_proj_qkvz.weight"] = np.concatenate(parts)
    s[f"{p}in_proj_ba.weight"] = r.tensor(f"{b}ssm_ba.weight", d, 2 * VALUE_HEADS)


def config(moe, theta_extra):
    c = dict(BASE, num_hidden_layers=4, head_dim=32, rms_norm_eps=1e-6, tie_word_embeddings=False,
             linear_conv_kernel_dim=4, linear_key_head_dim=STATE, linear_value_head_dim=STATE, linear_num_key_heads=KEY_HEADS,
             linear_num_value_heads=VALUE_HEADS,
             layer_types=["full_attention" if (i + 1) % 4 == 0 else "linear_attention" for i in range(4)],
             rope_parameters=rope(partial_rotary_factor=0.25, **theta_extra))
    if moe:
        c.update(moe_intermediate_size=32, shared_expert_intermediate_size=48, num_experts=8, num_experts_per_tok=2)
    else:
        c.update(intermediate_size=96)
    return c


def recipe(arch, c, moe, sections):
    extra = {"rope.dimension_count": 8, "full_attention_interval": 4, "ssm.conv_kernel": 4, "ssm.state_size": STATE,
             "ssm.group_count": KEY_HEADS, "ssm.time_step_rank": VALUE_HEADS, "ssm.inner_size": VALUE_HEADS * STATE}
    if sections:
        extra["rope.dimension_sections"] = [2, 1, 1, 0]
    if moe:
        extra.update({"expert_count": 8, "expert_used_count": 2, "expert_feed_forward_length": 32,
                      "expert_shared_feed_forward_length": 48})
    return common(arch, c, 32, extra)


def build(arch, moe, tiled, model, config_class):
    theta_extra = {"mrope_section": [2, 1, 1], "mrope_interleaved": True} if tiled else {}
    c = config(moe, theta_extra)
    if not tiled:
        c.update(intermediate_size=96, norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[])
    r = recipe(arch, c, moe, sections=tiled)
    s = {}
    head(r, s, c, plus_one=1.0)
    for i in range(4):
        pre_norms(r, s, c, i, ffn_norm="post_attention_norm", plus_one=1.0)
        if (i + 1) % 4 == 0:
            gated_attention(r, s, c, i)
        else:
            delta_net(r, s, c, i, tiled)
        if moe:
            experts(r, s, c, i, 8, 32)
            shared_expert(r, s, c, i, 48)
        else:
            dense(r, s, c, i)
    return model, config_class, c, r, s


def qwen35():
    return build("qwen35", False, True, "Qwen3_5ForCausalLM", "Qwen3_5TextConfig")


def qwen35moe():
    return build("qwen35moe", True, True, "Qwen3_5MoeForCausalLM", "Qwen3_5MoeTextConfig")


def qwen3next():
    return build("qwen3next", True, False, "Qwen3NextForCausalLM", "Qwen3NextConfig")
