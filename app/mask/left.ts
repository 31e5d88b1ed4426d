/** Rules that begin with themselves: harmless where nothing else stands beside, and refused otherwise. */
import { HalogenError } from "../error.ts";
import { choice, type Expression, type Grammar } from "../grammar/expression.ts";
import type { Core, Rule } from "./automaton.ts";

/**
 * An alternative that is only a rule which leads back here adds nothing: `a ::= b | "x"` with `b ::= a | "y"` are both "x" or "y". Schemas that refer to
 * themselves have such. All else stays as it is.
 */
export function withoutUnitCycles({ root, rules }: Grammar): Grammar {
  const alternatives = (expression: Expression): Expression[] => {
    if (expression.kind === "choice") return expression.parts.flatMap(alternatives);
    const [only] = expression.kind === "sequence" ? expression.parts : [];
    return expression.kind === "sequence" && expression.parts.length === 1 && only !== undefined
      ? alternatives(only)
      : [expression];
  };
  const next = new Map(
    [...rules].map(([name, body]) => [
      name,
      alternatives(body).flatMap((each) => (each.kind === "rule" ? [each.name] : [])),
    ]),
  );
  if (![...next.values()].some((names) => names.length > 0)) return { root, rules };
  const groups = cycles(next);
  const changed = new Map(rules);
  for (const group of groups) {
    const members = new Set(group);
    const parts = group
      .flatMap((name) => alternatives(rules.get(name) as Expression))
      .filter((each) => each.kind !== "rule" || !members.has(each.name));
    for (const name of group) changed.set(name, choice(...parts));
  }
  return { root, rules: changed };
}

/** Names that reach each other, or themselves (Tarjan's algorithm, without recursion). */
function cycles(next: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const found: string[][] = [];
  for (const first of next.keys()) {
    if (index.has(first)) continue;
    const path: { name: string; at: number }[] = [{ name: first, at: 0 }];
    while (path.length > 0) {
      const here = path[path.length - 1] as { name: string; at: number };
      const { name } = here;
      if (here.at === 0 && !index.has(name)) {
        index.set(name, index.size);
        low.set(name, index.size - 1);
        open.push(name);
        isOpen.add(name);
      }
      const other = (next.get(name) ?? [])[here.at++];
      if (other !== undefined) {
        if (!index.has(other)) path.push({ name: other, at: 0 });
        else if (isOpen.has(other)) low.set(name, Math.min(low.get(name) ?? 0, index.get(other) ?? 0));
        continue;
      }
      path.pop();
      const before = path[path.length - 1];
      if (before !== undefined) low.set(before.name, Math.min(low.get(before.name) ?? 0, low.get(name) ?? 0));
      if (low.get(name) !== index.get(name)) continue;
      const group = open.splice(open.indexOf(name));
      for (const each of group) isOpen.delete(each);
      if (group.length > 1 || (next.get(name) ?? []).includes(name)) found.push(group);
    }
  }
  return found;
}

/** Ranks of rules, so that what a rule calls without having read anything has a higher one. */
export function leftOrder(rules: readonly Rule[], core: (place: number) => Core): Uint32Array {
  const ranks = new Uint32Array(rules.length);
  const state = new Uint8Array(rules.length);
  let rank = rules.length;
  for (let first = 0; first < rules.length; first++) {
    if (state[first] !== 0) continue;
    const path: { rule: number; calls: readonly { rule: number }[]; at: number }[] = [];
    const enter = (rule: number): void => {
      state[rule] = 1;
      path.push({ rule, calls: core((rules[rule] as Rule).start).calls, at: 0 });
    };
    enter(first);
    while (path.length > 0) {
      const here = path[path.length - 1] as (typeof path)[number];
      const called = here.calls[here.at++]?.rule;
      if (called === undefined) {
        state[here.rule] = 2;
        ranks[here.rule] = --rank;
        path.pop();
      } else if (state[called] === 0) enter(called);
      else if (state[called] === 1) {
        throw new HalogenError("grammar.unsupported", "A rule of this grammar begins with itself", {
          hint: "Write it with a repetition instead.",
        });
      }
    }
  }
  return ranks;
}
