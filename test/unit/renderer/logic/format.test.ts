import { describe, expect, test } from "vitest";
import { checkFormat, formatAbouts, formatProblem } from "../../../../renderer/logic/format.ts";

describe("the format of a reply", () => {
  test("is said to be wrong with the place in it, while it is written", () => {
    expect(formatProblem({ kind: "json", source: "" })).toBeNull();
    expect(formatProblem({ kind: "json_schema", source: " " })).toBe("Nothing is written yet.");
    expect(formatProblem({ kind: "json_schema", source: "{" })).toContain("no JSON");
    expect(formatProblem({ kind: "json_schema", source: '{"type":"object","not":{}}' })).toContain('at "/not"');
    expect(formatProblem({ kind: "regex", source: "(a" })).toContain("character 1");
    expect(formatProblem({ kind: "ebnf", source: "root ::= x" })).toMatch(/line 1, column 10.*A rule looks like this/);
  });

  test("that is an example of ours is right", () => {
    for (const kind of ["json_schema", "regex", "ebnf"] as const)
      expect(formatProblem({ kind, source: formatAbouts[kind].example }), kind).toBeNull();
  });

  test("that is wrong is not sent", () => {
    expect(() => checkFormat({ kind: "regex", source: "a{2,1}" })).toThrow(/format of the reply is not right/);
    expect(() => checkFormat({ kind: "regex", source: "a{1,2}" })).not.toThrow();
  });
});
