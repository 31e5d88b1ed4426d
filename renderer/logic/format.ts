import type { ResponseFormat } from "../../app/contract/message.ts";
import { HalogenError } from "../../app/error.ts";
import { readGrammar } from "../../app/grammar/grammar.ts";

export type FormatKind = ResponseFormat["kind"];

export const formatNames: Readonly<Record<FormatKind, string>> = {
  json: "JSON",
  json_schema: "JSON schema",
  regex: "Expression",
  ebnf: "Grammar",
};

/** What each takes, and an example of it. */
export const formatAbouts: Readonly<Record<FormatKind | "none", { about: string; example: string }>> = {
  none: { about: "The model writes what it likes.", example: "" },
  json: { about: "The reply is a JSON object or list.", example: "" },
  json_schema: {
    about: "The reply is JSON that fits this schema.",
    example: '{ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] }',
  },
  regex: { about: "The whole reply matches this regular expression.", example: "(yes|no), because .{10,200}" },
  ebnf: { about: "The whole reply fits this EBNF; it begins with the rule root.", example: 'root ::= "yes" | "no"' },
};

/** What is wrong with a format, with the place in it, and what to do; null when a reply can be held to it. */
export function formatProblem(format: ResponseFormat): string | null {
  if (format.kind !== "json" && format.source.trim() === "") return "Nothing is written yet.";
  try {
    readGrammar(format);
    return null;
  } catch (error) {
    if (!(error instanceof HalogenError)) throw error;
    return [`${error.message}.`, error.hint].filter((part) => part !== "").join(" ");
  }
}

/** Throws what is wrong with it: nobody is to wait for a reply in a format, and get one without. */
export function checkFormat(format: ResponseFormat): void {
  const problem = formatProblem(format);
  if (problem === null) return;
  throw new HalogenError("grammar.invalid", `The format of the reply is not right: ${problem}`, {
    hint: "Mend it under Format, or choose free text there.",
  });
}
