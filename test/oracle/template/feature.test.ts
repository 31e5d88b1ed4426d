/**
 * What our probe finds in real chat templates against what Jinja's own list of free variables and its renders say (see make_golden.py), where an
 * unpacked llama-cpp-python source package is at hand; and, for families people know, against what their templates say to a reader.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { settingOf } from "../../../app/chat/feature.ts";
import { probeTemplate } from "../../../main/chat/probe.ts";
import { compileTemplate } from "../../../main/chat/template.ts";

interface Golden {
  /** Null where Jinja itself fails and ours does not. */
  system: boolean | null;
  tools: boolean | null;
  keepsThoughts: boolean | null;
  booleans: string[];
  words: Record<string, Record<string, string>>;
}
const golden = JSON.parse(readFileSync(join(import.meta.dirname, "feature.json"), "utf8")) as Record<string, Golden>;
const root = process.env.HALOGEN_LLAMA_CPP_PACKAGE ?? "";
const folder = join(root, "vendor/llama.cpp/models/templates");
const present = root !== "" && existsSync(folder);
const probeOf = (name: string) => probeTemplate(compileTemplate(readFileSync(join(folder, name), "utf8")));
const aboutThinking = /think|reason|effort/;

/** Read by eye: thinking, whether it thinks by itself, levels with the usual one, opening tag. */
const known: Record<string, [string, boolean, string, string]> = {
  "Qwen-Qwen3-0.6B": ["switch", true, "", "<think>"],
  "Qwen3.5-4B": ["switch", true, "", "<think>"],
  "Qwen3-Coder": ["none", false, "", ""],
  "Qwen-Qwen2.5-7B-Instruct": ["none", false, "", ""],
  "openai-gpt-oss-120b": ["always", true, "low medium high (medium)", "<|channel|>analysis<|message|>"],
  "deepseek-ai-DeepSeek-V3.1": ["switch", false, "", "<think>"],
  "deepseek-ai-DeepSeek-V4-Flash-0731": ["switch", false, "high max ()", "<think>"],
  "deepseek-ai-DeepSeek-R1-Distill-Llama-8B": ["always", true, "", "<think>"],
  "GLM-4.6": ["switch", true, "", "<think>"],
  "GLM-4.7-Flash": ["switch", true, "", "<think>"],
  "ibm-granite-granite-3.3-2B-Instruct": ["switch", false, "", "<think>"],
  "HuggingFaceTB-SmolLM3-3B": ["switch", true, "", "<think>"],
  "NVIDIA-Nemotron-Nano-v2": ["switch", true, "", "<think>"],
  "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": ["switch", true, "", "<think>"],
  "google-gemma-4-31B-it": ["switch", false, "", "<|channel>thought"],
  "google-gemma-2-2b-it": ["none", false, "", ""],
  "ByteDance-Seed-OSS": ["switch", true, "", "<seed:think>"],
  Cohere2MoE: ["switch", true, "", "<|START_THINKING|>"],
  "Kimi-K2-Thinking": ["always", true, "", "<think>"],
  "Kimi-K3": ["switch", true, "low high max (max)", "<|open|>think<|sep|>"],
  "MiniMax-M3": ["switch", true, "adaptive enabled (adaptive)", "<mm:think>"],
  "mistralai-Ministral-3-14B-Reasoning-2512": ["always", true, "", "[THINK]"],
  "tencent-Hy3": ["switch", false, "low high ()", "<think:opensource>"],
  "upstage-Solar-Open-100B": ["switch", true, "", "<|think|>"],
  "meta-llama-Llama-3.1-8B-Instruct": ["none", false, "", ""],
  "microsoft-Phi-3.5-mini-instruct": ["none", false, "", ""],
};

/** Read by eye: whether past thoughts stay by themselves (`+`) or not (`-`), and the variable that keeps them; thinking, then answering at once. */
const past: Record<string, [string, string, Record<string, unknown> | null]> = {
  "GLM-4.7-Flash": ["- choice", "- choice", { clear_thinking: false }],
  "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": ["- choice", "- choice", { truncate_history_thinking: false }],
  "LFM2.5-8B-A1B": ["- choice", "- choice", { preserve_thinking: true }],
  "deepseek-ai-DeepSeek-V4": ["- choice", "-", { drop_thinking: false }],
  "poolside-Laguna-S-2.1": ["+", "- choice", { preserve_thinking: true }],
  "upstage-Solar-Open-100B": ["- choice", "- choice", { think_render_option: "all" }],
  "tencent-Hy3": ["- choice", "- choice", { preserved_thinking: true }],
  "inclusionai-ling-3.0-flash": ["+", "+", null],
  "Kimi-K3": ["+", "-", null],
  "Qwen-Qwen3-0.6B": ["-", "-", null],
  "openai-gpt-oss-120b": ["-", "-", null],
};

describe.skipIf(!present)(
  present ? "features" : "features (skipped: HALOGEN_LLAMA_CPP_PACKAGE names no unpacked package)",
  () => {
    it.each(Object.keys(golden))("%s: what Jinja finds", (name) => {
      const { features, on, off, effort } = probeOf(name);
      const expected = golden[name] as Golden;
      const past = features.thinks ? features.pastThoughts.thinking : features.pastThoughts.answering;
      expect([features.system, features.tools, past.kept]).toEqual([
        expected.system ?? features.system,
        expected.tools ?? features.tools,
        expected.keepsThoughts ?? past.kept,
      ]);
      // A budget is a number: true counts as 1 in Python.
      const switches = expected.booleans.filter((each) => aboutThinking.test(each) && !each.endsWith("_budget"));
      const booleans = Object.entries(on?.variables ?? {}).filter(([, value]) => typeof value === "boolean");
      expect(booleans.map(([variable]) => variable).sort()).toEqual(switches);
      const leveled = Object.keys(expected.words).filter((each) => aboutThinking.test(each));
      if (effort !== null) expect(leveled).toContain(effort);
      for (const variable of leveled) {
        const prompts = expected.words[variable] ?? {};
        const [opened, shut] = [on?.variables[variable], off?.variables[variable]];
        if (shut !== undefined) expect(prompts[String(opened)]).not.toBe(prompts[String(shut)]);
        const levels = variable === effort ? (features.effort?.levels ?? []) : [];
        expect(new Set(levels.map((level) => prompts[level])).size).toBe(levels.length);
        expect(prompts).not.toHaveProperty("undefined");
      }
    });

    it.each(Object.entries(known))("%s: what a reader finds", (name, [thinking, thinks, effort, open]) => {
      const { features, tags } = probeOf(`${name}.jinja`);
      const levels =
        features.effort === null ? "" : `${features.effort.levels.join(" ")} (${features.effort.initial ?? ""})`;
      expect([features.thinking, features.thinks, levels, tags?.open ?? ""]).toEqual([thinking, thinks, effort, open]);
    });

    it.each(Object.entries(past))("%s: what a reader finds of past thoughts", (name, [thinking, answering, on]) => {
      const { features, keep } = probeOf(`${name}.jinja`);
      const words = ({ choice, kept }: { choice: boolean; kept: boolean }) =>
        `${kept ? "+" : "-"}${choice ? " choice" : ""}`;
      expect([words(features.pastThoughts.thinking), words(features.pastThoughts.answering), keep?.on ?? null]).toEqual(
        [thinking, answering, on],
      );
    });

    it("every switch has two sides", () => {
      for (const name of Object.keys(golden)) {
        const probe = probeOf(name);
        expect(probe.features.thinking === "switch", name).toBe(probe.on !== null && probe.off !== null);
        if (probe.features.thinking !== "switch") continue;
        const sides = [true, false].map((thinking) => settingOf(probe, { thinking, effort: null, keepThoughts: null }));
        expect(sides[0], name).not.toEqual(sides[1]);
      }
    });
  },
);
