/** What a reply is held to, from any of its sources. */
import type { GrammarSource } from "../engine.ts";
import { HalogenError } from "../error.ts";
import { checkSize, pruned } from "./check.ts";
import { parseEbnf } from "./ebnf.ts";
import { choice, type Grammar, rule } from "./expression.ts";
import { jsonRules } from "./json.ts";
import { parseRegex } from "./regex.ts";
import { schemaGrammar } from "./schema.ts";

/** Most characters of a source. */
export const largestSource = 1_000_000;

/** Throws grammar.invalid, grammar.unsupported or grammar.impossible with the place in the source. */
export function readGrammar({ kind, source }: GrammarSource): Grammar {
  if (source.length > largestSource) {
    throw new HalogenError(
      "grammar.unsupported",
      `A grammar has at most ${largestSource} characters, not ${source.length}`,
      {
        detail: { characters: source.length, most: largestSource },
      },
    );
  }
  try {
    return read(kind, source);
  } catch (error) {
    // Of the stack: rules that lead to rules that lead to rules, or parts beyond counting.
    if (!(error instanceof RangeError)) throw error;
    throw new HalogenError("grammar.unsupported", "This grammar has too many parts, or parts too deep in one another", {
      hint: "Use a smaller one.",
      detail: { characters: source.length },
      cause: error,
    });
  }
}

function read(kind: GrammarSource["kind"], source: string): Grammar {
  switch (kind) {
    case "json":
      return pruned({
        root: "root",
        rules: new Map([...jsonRules, ["root", choice(rule("json_object"), rule("json_array"))]]),
      });
    case "json_schema":
      return schemaGrammar(readJson(source));
    case "regex": {
      // The whole reply has to match, so that ^ and $ say nothing more.
      const grammar = pruned({
        root: "root",
        rules: new Map([["root", choice(...parseRegex(source).map(({ body }) => body))]]),
      });
      checkSize(grammar);
      return grammar;
    }
    case "ebnf": {
      const grammar = pruned(parseEbnf(source));
      checkSize(grammar);
      return grammar;
    }
  }
}

function readJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    throw new HalogenError("grammar.invalid", `The schema is no JSON: ${(error as Error).message}`, {
      detail: { pointer: "" },
      cause: error,
    });
  }
}
