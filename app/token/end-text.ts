/** Texts of tokens that end a reply in every family that has them, whatever type a file gives them. */
export const endTexts: ReadonlySet<string> = new Set([
  "<|eot_id|>",
  "<|im_end|>",
  "<|end|>",
  "<|return|>",
  "<|call|>",
  "<|calls|>",
  "<|flush|>",
  "<end_of_turn>",
  "<turn|>",
  "<|endoftext|>",
  "<|end_of_text|>",
  "<|eom_id|>",
  "<EOT>",
  "_<EOT>",
  "[EOT]",
  "[EOS]",
  "[e~[",
  "<eos>",
  "<end_of_utterance>",
  "<|tool_response>",
  "<｜end▁of▁sentence｜>",
  "<|fim_pad|>",
  "<|repo_name|>",
  "<|file_sep|>",
]);

/** Their first characters: a file's tokens are many, and few of them begin so. */
export const endFirsts: ReadonlySet<string> = new Set(Array.from(endTexts, (text) => text.slice(0, 1)));
