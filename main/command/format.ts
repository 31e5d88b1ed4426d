/** The options of `halogen run` that hold the reply to a grammar. */
import { readFile } from "node:fs/promises";
import type { ParseArgsOptionsConfig } from "node:util";
import type { Request } from "../../app/contract/call.ts";
import { HalogenError } from "../../app/error.ts";
import { readGrammar } from "../../app/grammar/grammar.ts";
import { type Command, type CommandContext, stringOption, UsageError } from "./command.ts";

export type ResponseFormat = NonNullable<Request<"chat.send">["responseFormat"]>;

export const formatOptions: ParseArgsOptionsConfig = {
  json: { type: "boolean" },
  "json-schema": { type: "string" },
  regex: { type: "string" },
  grammar: { type: "string" },
};

export const formatHelp: Command["help"] = [
  ["--json", "the reply is a JSON object or list"],
  ["--json-schema FILE", "the reply is JSON that fits this schema"],
  ["--regex R", "the whole reply matches this regular expression"],
  ["--grammar FILE", "the reply fits this EBNF"],
];

/** Throws UsageError, file.missing or grammar.*: before a model is loaded. */
export async function readFormat(context: CommandContext): Promise<ResponseFormat | null> {
  const schema = stringOption(context, "json-schema");
  const regex = stringOption(context, "regex");
  const grammar = stringOption(context, "grammar");
  const json = context.values.json === true;
  const given = [json ? "--json" : null, schema && "--json-schema", regex && "--regex", grammar && "--grammar"].filter(
    Boolean,
  );
  if (given.length > 1) throw new UsageError(`${given.join(" and ")} cannot be used together.`);
  let format: ResponseFormat | null = null;
  if (json) format = { kind: "json", source: "" };
  else if (schema !== undefined) format = { kind: "json_schema", source: await read(schema) };
  else if (regex !== undefined) format = { kind: "regex", source: regex };
  else if (grammar !== undefined) format = { kind: "ebnf", source: await read(grammar) };
  if (format !== null) readGrammar(format);
  return format;
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new HalogenError("file.missing", `${path} cannot be read`, {
      hint: "Check the path.",
      detail: { path },
      cause: error,
    });
  }
}
