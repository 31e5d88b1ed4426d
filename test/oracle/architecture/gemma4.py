"""Tiny Gemma 4 models: the mixture-of-experts kind (keys serve as values in global layers) and the per-layer-input kind (shared KV)."""
import numpy as np
from family import BASE, VOCAB, common, dense, head, rope

LOCAL, GLOBAL = 16, 32  # head sizes of sliding and full layers


def config(layers, kv_global=None, **extra):
    kinds = ["full_attention" if i % 3 == 2 else "sliding_attention" for i in range(layers)]
    c = dict(BASE, num_hidden_layers=layers, intermediate_size=96, head_dim=LOCAL, global_head_dim=GLOBAL, rms_norm_eps=1e-6,
             sliding_window=16, tie_word_embeddings=True, hidden_activation="gelu_pytorch_tanh", final_logit_softcapping=30.0,
             layer_types=kinds, vocab_size_per_layer_input=VOCAB,
             rope_parameters={"full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1000000.0},
                              "sliding_attention": rope(10000.0)})
    if kv_global:
        c["num_global_key_value_heads"] = kv_global
    c.update(extra)
    return c


def recipe(c, extra):
    sliding = [k == "sliding_attention" for k in c["layer_types"]]
    meta = {"attention.key_length": GLOBAL, "attention.value_length": GLOBAL, "attention.key_length_swa": LOCAL,
            "attention.value_length_swa": LOCAL, "attention.sliding_window": 16, "attention.sliding_window_pattern": sliding,
            "attention.shared_kv_layers": c.get("num_kv_shared_layers", 0), "rope.freq_base": 1000000.0,
            "rope.freq_base_swa": 10000.0, "rope.dimension_count": GLOBAL, "rope.dimension_count_swa": LOCAL,
            "final_logit_softcapping": 30.0, "embedding_length_per_layer_input": c["hidden_size_per_layer_input"]}
    meta.update(extra)
    r = common("gemma4", c, GLOBAL, meta)
    r.literal("rope_freqs.weight", [1.0] * (GLOBAL // 8) + [1e30] * (GLOBAL // 2 - GLOBAL // 8))
    return r, sliding


def block(r, s, c, i, sliding, own_kv, width):
    b, p, d = f"blk.{i}.", f"model.layers.{i}.", c["hidden_size"]
    for ours, theirs in (("attn_norm", "input_layernorm"), ("post_attention_norm", "post_attention_layernorm"),
                         ("ffn_norm", "pre_feedforward_layernorm"), ("post_ffw_norm", "post_feedforward_layernorm")):
        s[f"{p}{theirs}.weight"] = r.norm(f"{b}{ours}.weight", d)
    hd = LOCAL if sliding else GLOBAL
    kv = c["num_key_value_heads"] if sliding else c.get("num_global_key_value_heads") or c["num_key_value_heads"]
    q = c["num_attention_heads"] * hd
    s[f"{p}self_attn.q_proj.weight"] = r.tensor(f"{b}attn_q.weight", d, q)
    s[f"{p}self_attn.q_norm.weight"] = r.norm(f"{b}attn_q_norm.weight", hd)
    if own_kv:
        s[f"{p}self_attn.k_proj.weight"] = r.tensor(f"{b}attn_k.weight", d, kv * hd)
        s[f"{p}self_attn.k_norm.weight"] = r.norm(f"{b}attn_k_norm.weight", hd)
        if sliding or not c.get("attention_k_eq_v"):
            s[f"{p}self_attn.v_proj.weight"] = r.tensor(f"{b}attn_v.weight", d, kv * hd)
    s[f"{p}self_attn.o_proj.weight"] = r.tensor(f"{b}attn_output.weight", q, d)
    dense(r, s, c, i, width=width)
    s[f"{p}layer_scalar"] = r.tensor(f"{b}layer_output_scale.weight", 1, mean=0.8, amplitude=0.2)


def mixture():
    c = config(6, kv_global=1, attention_k_eq_v=True, hidden_size_per_layer_input=0, enable_moe_block=True, num_experts=8,
               top_k_experts=2, moe_intermediate_size=32)
    kv = [1 if k == "full_attention" else 2 for k in c["layer_types"]]
    r, sliding = recipe(c, {"attention.head_count_kv": kv, "expert_count": 8, "expert_used_count": 2,
                            "expert_feed_forward_length": 32})
    s = {}
    head(r, s, c)
    for i in range(6):
        b, p = f"blk.{i}.", f"model.layers.{i}."
        block(r, s, c, i, sliding[i], True, 96)
        for ours, theirs in (("post_ffw_norm_1", "post_feedforward_layernorm_1"), ("pre_ffw_norm_2", "pre_feedforward_layernorm_2"),
                             ("post_ffw_norm_2", "post_feedforward_layernorm_2")):
            s[f"{p}{theirs}.weight"] = r.norm(f"{b}{ours}.weight", 64)
        s[f"{p}router.proj.weight"] = r.tensor(f"{b}ffn_gate_inp.weight", 64, 8)
        s[f"{p}router.scale"] = r.tensor(f"{b}ffn_gate_inp.scale", 64, mean=6.0, amplitude=2.0)
        s[f"{p}router.per_expert_scale"] = r.tensor(f"{b}ffn_down_exps.scale", 8, mean=1.0, amplitude=0.3)
        s[f"{p}experts.gate_up_proj"] = r.tensor(f"{b}ffn_gate_up_exps.weight", 64, 64, 8)
        s[f"{p}experts.down_proj"] = r.tensor(f"{b}ffn_down_exps.weight", 32, 64, 8)
    return "Gemma4ForCausalLM", "Gemma4TextConfig", c, r, s


def per_layer():
    layers, shared = 9, 3
    c = config(layers, hidden_size_per_layer_input=16, num_kv_shared_layers=shared, use_double_wide_mlp=True)
    widths = [96 if i < layers - shared else 192 for i in range(layers)]
    r, sliding = recipe(c, {"feed_forward_length": widths})
    s = {}
    head(r, s, c)
    s["model.embed_tokens_per_layer.weight"] = r.tensor("per_layer_token_embd.weight", 16 * layers, VOCAB, amplitude=1.0)
    s["model.per_layer_model_projection.weight"] = r.tensor("per_layer_model_proj.weight", 64, 16 * layers)
    s["model.per_layer_projection_norm.weight"] = r.norm("per_layer_proj_norm.weight", 16)
    for i in range(layers):
        b, p = f"blk.{i}.", f"model.layers.{i}."
        block(r, s, c, i, sliding[i], i < layers - shared, widths[i])
        s[f"{p}per_layer_input_gate.weight"] = r.tensor(f"{b}inp_gate.weight", 64, 16)
        s[f"{p}per_layer_projection.weight"] = r.tensor(f"{b}proj.weight", 16, 64)
        s[f"{p}post_per_layer_input_norm.weight"] = r.norm(f"{b}post_norm.weight", 64)
    return "Gemma4ForCausalLM", "Gemma4TextConfig", c, r, s


def bitnet(arch="bitnet", act="silu"):
    """`bitnet` is 1bitLLM's form: SiLU gate, a norm before each output projection; ternary weights with one scale. Microsoft's own,
    `bitnet-b1.58`, has a squared ReLU."""
    c = dict(BASE, intermediate_size=96, hidden_act=act, tie_word_embeddings=True, rope_parameters=rope(), bos_token_id=1,
             eos_token_id=2)
    r = common(arch, c, 16, {"rope.scaling.type": "linear", "rope.scaling.factor": 1.0})
    s = {}
    head(r, s, c)

    def ternary(name, *ne):
        w = r.tensor(name, *ne)
        scale = np.float32(np.abs(w).mean())
        w = np.clip(np.round(w / scale), -1, 1) * scale
        r.tensors[-1]["ternary"] = float(scale)
        return w.astype(np.float32)

    for i in range(2):
        b, p = f"blk.{i}.", f"model.layers.{i}."
        s[f"{p}input_layernorm.weight"] = r.norm(f"{b}attn_norm.weight", 64)
        s[f"{p}post_attention_layernorm.weight"] = r.norm(f"{b}ffn_norm.weight", 64)
        for short, heads in (("q", 4), ("k", 2), ("v", 2)):
            s[f"{p}self_attn.{short}_proj.weight"] = ternary(f"{b}attn_{short}.weight", 64, heads * 16)
        s[f"{p}self_attn.o_proj.weight"] = ternary(f"{b}attn_output.weight", 64, 64)
        s[f"{p}self_attn.attn_sub_norm.weight"] = r.norm(f"{b}attn_sub_norm.weight", 64)
        s[f"{p}mlp.gate_proj.weight"] = ternary(f"{b}ffn_gate.weight", 64, 96)
        s[f"{p}mlp.up_proj.weight"] = ternary(f"{b}ffn_up.weight", 64, 96)
        s[f"{p}mlp.down_proj.weight"] = ternary(f"{b}ffn_down.weight", 96, 64)
        s[f"{p}mlp.ffn_sub_norm.weight"] = r.norm(f"{b}ffn_sub_norm.weight", 96)
    return "BitNetForCausalLM", "BitNetConfig", c, r, s
