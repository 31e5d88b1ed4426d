#!/usr/bin/env python3
"""Writes OUT/<family>.json (how to make the tiny GGUF, and the token ids) and OUT/<family>.logits (float32, tokens x vocabulary).

usage: make_golden.py OUT [FAMILY ...]      Needs torch, transformers >= 5.17 and numpy; float32 on the CPU, so no device changes the figures.
"""
import json
import pathlib
import sys

import numpy as np
import torch
import transformers

import family
import gemma4
import hybrid
import variant
from portable import tokens

FAMILIES = {
    "llama": family.llama,
    "llama3-rope": lambda: family.llama(scaled=True),
    "mixtral": family.mixtral,
    "smollm3": family.smollm3,
    "qwen2": family.qwen2,
    "qwen2moe": family.qwen2moe,
    "qwen3": family.qwen3,
    "qwen3moe": family.qwen3moe,
    "qwen3-yarn": variant.qwen3_yarn,
    "mistral3": variant.mistral3,
    "llama-bias": variant.llama_bias,
    "gemma3": family.gemma3,
    "gemma4-moe": gemma4.mixture,
    "gemma4-per-layer": gemma4.per_layer,
    "bitnet": gemma4.bitnet,
    "bitnet-b1.58": lambda: gemma4.bitnet("bitnet-b1.58", "relu2"),
    "phi3": family.phi3,
    "phi3-long": lambda: variant.phi3(64),
    "phi3-short": lambda: variant.phi3(256),
    "glm4": family.glm4,
    "glm4moe": family.glm4moe,
    "glm4moe-groups": variant.glm4moe_groups,
    "gpt-oss": family.gptoss,
    "gpt-oss-rounded": lambda: family.gptoss(rounded=True),
    "qwen35": hybrid.qwen35,
    "qwen35moe": hybrid.qwen35moe,
    "qwen3next": hybrid.qwen3next,
}
COUNT = 80  # beyond one delta-net chunk of 64, and well beyond the sliding windows of 16


def logits_of(name, build):
    model_class, config_class, config, recipe, state = build()
    model = getattr(transformers, model_class)(getattr(transformers, config_class)(**config))
    model = model.to(torch.float32).eval()
    model.set_attn_implementation("eager")
    own = model.state_dict()
    wanted = {k for k in own if not (k == "lm_head.weight" and config.get("tie_word_embeddings"))}
    missing, unknown = sorted(wanted - set(state)), sorted(set(state) - wanted)
    if missing or unknown:
        raise SystemExit(f"{name}: not set {missing}; not in the model {unknown}")
    for key, value in state.items():
        if tuple(own[key].shape) != value.shape:
            raise SystemExit(f"{name}: {key} is {tuple(own[key].shape)} in the model, {value.shape} here")
        own[key].copy_(torch.from_numpy(np.ascontiguousarray(value)))
    ids = tokens(name, COUNT, family.VOCAB)
    with torch.no_grad():
        full = model(torch.from_numpy(ids)[None], use_cache=False).logits[0].float().numpy()
    return recipe, ids, full


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    only, failed = sys.argv[2:], []
    for name, build in FAMILIES.items():
        if only and name not in only:
            continue
        try:
            recipe, ids, logits = logits_of(name, build)
        except (Exception, SystemExit) as error:  # report every family in one run
            failed.append(f"{name}: {type(error).__name__}: {error}")
            continue
        text = json.dumps({"family": name, "tokens": ids.tolist(), "vocabulary": family.VOCAB,
                           "made_with": f"transformers {transformers.__version__}, torch {torch.__version__}", **recipe.json()})
        (out / f"{name}.json").write_text(text + "\n")
        (out / f"{name}.logits").write_bytes(logits.astype("<f4").tobytes())
        print(f"{name}: {logits.shape}, standard deviation {logits.std():.3f}, largest {np.abs(logits).max():.2f}")
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
