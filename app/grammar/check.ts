/** What can be known of a grammar before it is compiled: rules that are not there, and rules that never come to an end. */
import { HalogenError } from "../error.ts";
import type { Expression, Grammar } from "./expression.ts";

/** Rules that match at least one finite text. */
export function productiveRules({ rules }: Grammar): Set<string> {
  const productive = new Set<string>();
  const can = (expression: Expression): boolean => {
    switch (expression.kind) {
      case "text":
        return true;
      case "class":
        return expression.ranges.length > 0;
      case "rule":
        return productive.has(expression.name);
      case "sequence":
        return expression.parts.every(can);
      case "choice":
        return expression.parts.some(can);
      case "repeat":
        return expression.least === 0 || can(expression.part);
    }
  };
  // From the last one: rules mostly speak of those behind them.
  let left = [...rules].reverse();
  for (let before = left.length + 1; left.length < before; ) {
    before = left.length;
    left = left.filter(([name, body]) => {
      if (!can(body)) return true;
      productive.add(name);
      return false;
    });
  }
  return productive;
}

/** Without the parts that match nothing: dead branches are no fault, and the compiler need not meet them. Throws grammar.impossible when nothing is left. */
export function pruned(
  grammar: Grammar,
  detailOf: (rule: string) => Record<string, string | number> = () => ({}),
): Grammar {
  const productive = productiveRules(grammar);
  if (!productive.has(grammar.root)) {
    const culprit =
      [...grammar.rules.keys()].find((name) => !productive.has(name) && name !== grammar.root) ?? grammar.root;
    throw new HalogenError("grammar.impossible", `No text fits this grammar: "${culprit}" never comes to an end`, {
      hint: "Give it an alternative that ends.",
      detail: { rule: culprit, ...detailOf(culprit) },
    });
  }
  const used = new Map<string, Expression>();
  /** Parts that stand in several places stay shared. */
  const done = new Map<Expression, Expression | null>();
  const visit = (name: string): void => {
    if (used.has(name)) return;
    const body = simplified(grammar.rules.get(name) as Expression, productive, done) as Expression;
    used.set(name, body);
    for (const other of mentioned(body)) visit(other);
  };
  visit(grammar.root);
  return { root: grammar.root, rules: used };
}

/** null: matches nothing. */
function simplified(
  expression: Expression,
  productive: ReadonlySet<string>,
  done: Map<Expression, Expression | null>,
): Expression | null {
  const known = done.get(expression);
  if (known !== undefined) return known;
  const inner = (part: Expression): Expression | null => simplified(part, productive, done);
  const make = (): Expression | null => {
    switch (expression.kind) {
      case "text":
        return expression;
      case "class":
        return expression.ranges.length > 0 ? expression : null;
      case "rule":
        return productive.has(expression.name) ? expression : null;
      case "sequence": {
        const parts = expression.parts.map(inner);
        return parts.includes(null) ? null : { ...expression, parts: parts as Expression[] };
      }
      case "choice": {
        const parts = expression.parts.map(inner).filter((part) => part !== null);
        return parts.length > 0 ? { ...expression, parts } : null;
      }
      case "repeat": {
        const part = expression.most === 0 ? null : inner(expression.part);
        if (part !== null) return { ...expression, part };
        return expression.least === 0 ? { kind: "text", text: "" } : null;
      }
    }
  };
  const made = make();
  done.set(expression, made);
  return made;
}

export function mentioned(expression: Expression): string[] {
  switch (expression.kind) {
    case "rule":
      return [expression.name];
    case "repeat":
      return mentioned(expression.part);
    case "sequence":
    case "choice":
      return expression.parts.flatMap(mentioned);
    default:
      return [];
  }
}

/** Rules that match the empty text. */
export function nullableRules({ rules }: Grammar): Set<string> {
  const nullable = new Set<string>();
  for (let grew = true; grew; ) {
    grew = false;
    for (const [name, body] of rules) {
      if (nullable.has(name) || !canBeEmpty(body, nullable)) continue;
      nullable.add(name);
      grew = true;
    }
  }
  return nullable;
}

export function canBeEmpty(part: Expression, nullable: ReadonlySet<string>): boolean {
  const inner = (each: Expression): boolean => canBeEmpty(each, nullable);
  if (part.kind === "text") return part.text === "";
  if (part.kind === "rule") return nullable.has(part.name);
  if (part.kind === "repeat") return part.least === 0 || inner(part.part);
  if (part.kind === "sequence") return part.parts.every(inner);
  return part.kind === "choice" && part.parts.some(inner);
}

/** Throws grammar.unsupported for a grammar that would take seconds and much memory. Counts cost nothing: what is repeated stands once. */
export function checkSize({ rules }: Grammar, most = 100_000): void {
  const counted = new Set<Expression>();
  const sizeOf = (expression: Expression): number => {
    switch (expression.kind) {
      case "text":
        return expression.text.length;
      case "repeat": {
        const again = counted.has(expression.part);
        counted.add(expression.part);
        return again ? 1 : 1 + sizeOf(expression.part);
      }
      case "sequence":
      case "choice":
        return 1 + expression.parts.reduce((sum, part) => sum + sizeOf(part), 0);
      default:
        return 1;
    }
  };
  let size = 0;
  for (const body of rules.values()) size += sizeOf(body);
  if (size <= most) return;
  throw new HalogenError("grammar.unsupported", `This grammar has ${size} parts; at most ${most} can be used`, {
    hint: "Leave parts of it out.",
    detail: { size, most },
  });
}
