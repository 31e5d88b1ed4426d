/** The options of `halogen run` about thinking; what the model's template does not offer is refused, not left out. */
import type { ParseArgsOptionsConfig } from "node:util";
import type { Model } from "../../app/contract/model.ts";
import type { SamplingOptions } from "../../app/contract/session.ts";
import { type Command, type CommandContext, stringOption, UsageError } from "./command.ts";

export type ThinkingOptions = Partial<Pick<SamplingOptions, "thinking" | "effort" | "keepThoughts">>;

export const thinkingOptions: ParseArgsOptionsConfig = {
  thinking: { type: "string" },
  effort: { type: "string" },
  "keep-thoughts": { type: "string" },
};

export const thinkingHelp: Command["help"] = [
  ["--thinking on|off", "whether it thinks before it answers, where its template has a switch for that"],
  ["--effort LEVEL", "how much, where its template has levels (an unknown one is answered with the list)"],
  ["--keep-thoughts on|off", "whether it sees what it thought in earlier replies (with --save, for the chat)"],
];

export function readThinking(context: CommandContext, { name, features }: Model): ThinkingOptions {
  const options: ThinkingOptions = {};
  const thinking = stringOption(context, "thinking");
  const effort = stringOption(context, "effort");
  const offered = features?.thinking ?? "none";
  if (thinking !== undefined) {
    if (thinking !== "on" && thinking !== "off") throw new UsageError("--thinking takes on or off.");
    if (offered === "none") throw new UsageError(`The template of ${name} knows no thinking.`);
    if (offered === "always" && thinking === "off") {
      throw new UsageError(`${name} always thinks: its template has no switch.`);
    }
    if (offered === "switch") options.thinking = thinking === "on";
  }
  if (effort !== undefined) {
    if (options.thinking === false) throw new UsageError("--effort and --thinking off contradict each other.");
    options.effort = levelOf(name, features, effort);
  }
  const keep = stringOption(context, "keep-thoughts");
  if (keep !== undefined) {
    if (keep !== "on" && keep !== "off") throw new UsageError("--keep-thoughts takes on or off.");
    options.keepThoughts = keepOf(name, features, keep === "on", options.thinking ?? features?.thinks ?? false);
  }
  return options;
}

function keepOf(name: string, features: Model["features"], wanted: boolean, thinks: boolean): boolean {
  const past = thinks ? features?.pastThoughts.thinking : features?.pastThoughts.answering;
  if (past?.choice === true) return wanted;
  const does = past?.kept === true ? "always keeps" : "never keeps";
  throw new UsageError(`The template of ${name} ${does} thoughts of earlier replies${stateOf(features, thinks)}.`);
}

function stateOf(features: Model["features"], thinks: boolean): string {
  if (features?.thinking !== "switch") return "";
  return thinks ? " while it thinks" : " while it does not think";
}

function levelOf(name: string, features: Model["features"], effort: string): string {
  const levels = features?.effort?.levels ?? [];
  if (levels.includes(effort)) return effort;
  throw new UsageError(
    levels.length === 0
      ? `The template of ${name} has no levels of effort.`
      : `The template of ${name} has no effort "${effort}". It has: ${levels.join(", ")}.`,
  );
}
