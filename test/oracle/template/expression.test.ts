/** Expressions that hang on Python's own types, as Jinja2 itself renders them (see make_expression_golden.py). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { compileTemplate } from "../../../main/chat/template.ts";

const golden = JSON.parse(readFileSync(join(import.meta.dirname, "expression.json"), "utf8")) as {
  variables: Record<string, unknown>;
  pairs: [source: string, text: string | null][];
};

it("equals Jinja2's text, and fails where that fails", () => {
  const found = golden.pairs.map(([source]): [string, string | null] => {
    try {
      return [source, compileTemplate(source).render(golden.variables, new Date(0))];
    } catch {
      return [source, null];
    }
  });
  expect(found).toEqual(golden.pairs);
  expect(golden.pairs.length).toBeGreaterThan(500);
});
