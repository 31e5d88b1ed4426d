/** Which of a template's variables have to do with thinking, and which words it compares them with. Read off its parsed form. */
import type { Program } from "./jinja.ts";

interface Node {
  type: string;
  [key: string]: unknown;
}

/** By name: the words and numbers near it in comparisons and defaults, in the order in which they stand. */
export type ThinkingVariables = ReadonlyMap<string, readonly (string | number)[]>;

/** Templates name such variables for people to find; what they do is then seen by setting them. */
const about = /think|reason|effort/i;

export function thinkingVariables(program: Program): ThinkingVariables {
  const found = new Map<string, (string | number)[]>();
  const add = (names: readonly string[], words: readonly (string | number)[]): void => {
    for (const name of names) {
      const known = found.get(name) ?? [];
      for (const word of words) if (!known.includes(word)) known.push(word);
      found.set(name, known);
    }
  };
  walk(program as unknown as Node, (node) => {
    if (node.type === "Identifier") add(namesIn(node), []);
    if (node.type === "BinaryExpression" && comparing.has(operatorOf(node))) {
      add(namesIn(node.left), wordsIn(node.right));
      add(namesIn(node.right), wordsIn(node.left));
    }
    if (node.type === "Set") {
      const value = node.value as Node | null;
      // A block that is set to a name has no value.
      if (value === null) return;
      const assigned = namesIn(node.assignee);
      // A default: {% set x = "word" %}, or {% set y = x if x is defined else "word" %}.
      if (value.type === "StringLiteral" || value.type === "UnaryExpression") add(assigned, wordsIn(value));
      if (value.type === "Ternary" || value.type === "SelectExpression" || value.type === "FilterExpression") {
        add([...assigned, ...namesIn(value)], wordsIn(value));
      }
    }
  });
  return found;
}

const comparing: ReadonlySet<string> = new Set(["==", "!=", "in", "not in"]);

function operatorOf(node: Node): string {
  return String((node.operator as { value?: unknown } | undefined)?.value ?? "");
}

function namesIn(value: unknown): string[] {
  const names: string[] = [];
  walk(value, (node) => {
    if (node.type === "Identifier" && about.test(String(node.value))) names.push(String(node.value));
  });
  return names;
}

/** Levels are words, and budgets numbers; sentences and markup are something else. */
function wordsIn(value: unknown): (string | number)[] {
  const words: (string | number)[] = [];
  walk(value, (node) => {
    const negative = node.type === "UnaryExpression" && operatorOf(node) === "-";
    const literal = negative ? (node.argument as Node) : node;
    if (literal.type === "IntegerLiteral") words.push(negative ? -Number(literal.value) : Number(literal.value));
    if (node.type === "StringLiteral" && /^[a-z][a-z_-]{0,19}$/i.test(String(node.value)))
      words.push(String(node.value));
  });
  return words;
}

function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) for (const each of value) walk(each, visit);
  else if (value instanceof Map) {
    for (const [key, each] of value) {
      walk(key, visit);
      walk(each, visit);
    }
  } else if (typeof value === "object" && value !== null && typeof (value as Node).type === "string") {
    visit(value as Node);
    for (const each of Object.values(value)) walk(each, visit);
  }
}
