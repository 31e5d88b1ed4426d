/**
 * A grammar as places and what leads on from them: bytes, and calls of rules. Repetitions are not written out: how often a part has come is a place of
 * its own by number alone, so that a length of 200 or of a million costs the same.
 */
import { canBeEmpty, nullableRules } from "../grammar/check.ts";
import { type Expression, empty, type Grammar, type Range } from "../grammar/expression.ts";
import { encodeUtf8 } from "../token/utf8.ts";
import { byteSequences } from "./byte-range.ts";
import { addGate, type Gate } from "./gate.ts";
import { leftOrder, withoutUnitCycles } from "./left.ts";

/** Places from here on count: the number of the counter + 1 times this, plus how often its part has come. */
const counted = 2 ** 32;
const mostCounted = 2 ** 31;

export interface ByteEdge {
  from: number;
  to: number;
  target: number;
}

export interface Call {
  rule: number;
  target: number;
}

/** What can happen at a place without reading anything. */
export interface Core {
  /** Its rule may end here. */
  accepts: boolean;
  calls: readonly Call[];
  /** Places with bytes that lead on. */
  readers: readonly number[];
}

export interface Rule {
  start: number;
  nullable: boolean;
  /** The part of a repetition: what it looks like, where a table of it is worth making. */
  body: string | null;
}

export interface Counter {
  /** Its part. */
  body: number;
  least: number;
  /** Infinity: no end. */
  most: number;
}

/** Whether a place belongs to what may come before the grammar. `thought`: while it can be read as one, it is one. */
export type Role = "grammar" | "gate" | "thought";

/** Adds places and edges; used while an automaton is built. */
export interface Builder {
  place(role?: Role): number;
  edge(from: number, range: Range, target: number): void;
  skip(from: number, target: number): void;
  accept(place: number): void;
  call(from: number, rule: number, target: number): void;
  /** Characters, one after the other. */
  text(text: string, from: number, target: number, role: Role): void;
}

export interface Automaton {
  rules: readonly Rule[];
  root: number;
  /** By rule: calls without reading anything go from lower to higher ranks. */
  ranks: Uint32Array;
  /** Bytes that nothing tells apart. */
  classOf: Uint8Array;
  classCount: number;
  /** A byte of each class. */
  byteOf: Uint8Array;
  core(place: number): Core;
  /** Where a byte of this class leads from a place that reads. */
  targets(place: number, byteClass: number): readonly number[];
  role(place: number): Role;
  /** The counter whose place this is, and its count; null for others. */
  counter(place: number): { counter: Counter; count: number; places: number } | null;
}

const none: readonly number[] = [];

/** Throws grammar.unsupported for rules that begin with themselves. `gate`: what may come before. */
export function buildAutomaton(given: Grammar, gate: Gate | null = null): Automaton {
  const grammar = withoutUnitCycles(given);
  const empties = nullableRules(grammar);
  const skips: number[][] = [];
  const edges: ByteEdge[][] = [];
  const callsAt: Call[][] = [];
  const accepting: boolean[] = [];
  const roles: Role[] = [];
  const rules: Rule[] = [];
  const counters: Counter[] = [];
  const named = new Map<string, number>();
  /** Rules of repeated parts: by how they look, and by themselves. */
  const bodies = new Map<string, number>();
  const shared = new Map<Expression, number>();
  const marks = new Set<number>([0]);

  const place = (role: Role = "grammar"): number => {
    skips.push([]);
    edges.push([]);
    callsAt.push([]);
    accepting.push(false);
    return roles.push(role) - 1;
  };
  const edge = (from: number, [low, high]: Range, target: number): void => {
    marks.add(low);
    marks.add(high + 1);
    edges[from]?.push({ from: low, to: high, target });
  };
  const skip = (from: number, target: number): void => {
    skips[from]?.push(target);
  };
  const call = (from: number, rule: number, target: number): void => {
    callsAt[from]?.push({ rule, target });
  };
  const accept = (at: number): void => {
    accepting[at] = true;
  };
  const text = (value: string, from: number, target: number, role: Role): void => {
    const bytes = encodeUtf8(value);
    if (bytes.length === 0) skip(from, target);
    let at = from;
    bytes.forEach((byte, index) => {
      const next = index === bytes.length - 1 ? target : place(role);
      edge(at, [byte, byte], next);
      at = next;
    });
  };

  const addRule = (make: (start: number, end: number) => void, nullable: boolean, body: string | null): number => {
    const [start, end] = [place(), place()];
    accept(end);
    const index = rules.push({ start, nullable, body }) - 1;
    make(start, end);
    return index;
  };

  const addClass = (ranges: readonly Range[], from: number, target: number): void => {
    /** Ends of sequences that are the same are shared. */
    const ends = new Map<string, number>();
    for (const sequence of byteSequences(ranges)) {
      let behind = target;
      for (let index = sequence.length - 1; index > 0; index--) {
        const range = sequence[index] as Range;
        const key = `${range[0]}-${range[1]}>${behind}`;
        const before = ends.get(key) ?? place();
        if (!ends.has(key)) edge(before, range, behind);
        ends.set(key, before);
        behind = before;
      }
      edge(from, sequence[0] as Range, behind);
    }
  };

  const bodyRule = (part: Expression): number => {
    const same = shared.get(part);
    if (same !== undefined) return same;
    const key = JSON.stringify(part);
    const alike = bodies.get(key);
    if (alike !== undefined) {
      shared.set(part, alike);
      return alike;
    }
    const rule = addRule((start, end) => add(part, start, end), canBeEmpty(part, empties), tabular(part) ? key : null);
    bodies.set(key, rule);
    shared.set(part, rule);
    return rule;
  };

  const addRepeat = (part: Expression, least: number, most: number, from: number, target: number): void => {
    if (most === 0 || (least === 0 && most === 1)) skip(from, target);
    if (most <= 1) {
      if (most === 1) add(part, from, target);
    } else if (most === Number.POSITIVE_INFINITY && least < 2 && !tabular(part)) {
      const [again, behind] = [place(), place()];
      skip(from, again);
      add(part, again, behind);
      skip(behind, again);
      skip(behind, target);
      if (least === 0) skip(from, target);
    } else {
      const body = bodyRule(part);
      // Parts that may be empty fill up any count.
      const fewest = rules[body]?.nullable ? 0 : least;
      const index = counters.push({ body, least: fewest, most: most >= mostCounted ? Number.POSITIVE_INFINITY : most });
      call(from, rules.push({ start: index * counted, nullable: fewest === 0, body: null }) - 1, target);
    }
  };

  const add = (expression: Expression, from: number, target: number): void => {
    switch (expression.kind) {
      case "text":
        text(expression.text, from, target, "grammar");
        break;
      case "class":
        addClass(expression.ranges, from, target);
        break;
      case "rule":
        call(from, named.get(expression.name) as number, target);
        break;
      case "choice":
        for (const part of expression.parts) add(part, from, target);
        break;
      case "sequence": {
        if (expression.parts.length === 0) skip(from, target);
        let at = from;
        expression.parts.forEach((part, index) => {
          const next = index === expression.parts.length - 1 ? target : place();
          add(part, at, next);
          at = next;
        });
        break;
      }
      case "repeat":
        addRepeat(expression.part, expression.least, expression.most ?? Number.POSITIVE_INFINITY, from, target);
        break;
    }
  };

  for (const name of grammar.rules.keys())
    named.set(
      name,
      addRule(() => undefined, empties.has(name), null),
    );
  for (const [name, body] of grammar.rules) {
    const { start } = rules[named.get(name) as number] as Rule;
    add(body ?? empty, start, start + 1);
  }
  let root = named.get(grammar.root) as number;
  if (gate !== null) {
    const { start, nullable } = addGate({ place, edge, skip, call, text, accept }, gate, {
      rule: root,
      nullable: rules[root]?.nullable === true,
    });
    root = rules.push({ start, nullable, body: null }) - 1;
  }

  const { classOf, byteOf } = classes(marks);
  const cores = new Map<number, Core>();
  const rows = new Map<number, (readonly number[])[]>();

  const counterAt = (at: number): { counter: Counter; count: number; places: number } | null => {
    if (at < counted) return null;
    const index = Math.floor(at / counted);
    return { counter: counters[index - 1] as Counter, count: at % counted, places: index * counted };
  };

  const countedCore = (at: number): Core => {
    const { counter, count, places } = counterAt(at) as NonNullable<ReturnType<typeof counterAt>>;
    const { body, least, most } = counter;
    const next = most === Number.POSITIVE_INFINITY ? Math.min(count + 1, least) : count + 1;
    const calls = count < most ? [{ rule: body, target: places + next }] : [];
    return { accepts: count >= least, calls, readers: none };
  };

  const core = (at: number): Core => {
    if (at >= counted) return countedCore(at);
    const known = cores.get(at);
    if (known !== undefined) return known;
    const seen = new Set([at]);
    const found = { accepts: false, calls: [] as Call[], readers: [] as number[] };
    for (const each of seen) {
      if (each >= counted) throw new Error("a place that counts was reached without a call");
      if (accepting[each]) found.accepts = true;
      if ((edges[each]?.length ?? 0) > 0) found.readers.push(each);
      for (const next of skips[each] ?? []) seen.add(next);
      for (const made of callsAt[each] ?? []) {
        found.calls.push(made);
        if (rules[made.rule]?.nullable) seen.add(made.target);
      }
    }
    cores.set(at, found);
    return found;
  };

  return {
    rules,
    root,
    ranks: leftOrder(rules, core),
    classOf,
    classCount: byteOf.length,
    byteOf,
    core,
    targets(at, byteClass) {
      let row = rows.get(at);
      if (row === undefined) {
        row = Array.from(byteOf, (byte) =>
          (edges[at] ?? []).filter(({ from, to }) => from <= byte && byte <= to).map(({ target }) => target),
        );
        rows.set(at, row);
      }
      return row[byteClass] ?? none;
    },
    role: (at) => roles[at] ?? "grammar",
    counter: counterAt,
  };
}

/** A part of which a table may be worth it: no rules in it, and it reads characters of a class. */
function tabular(part: Expression): boolean {
  let classes = 0;
  const plain = (each: Expression): boolean => {
    if (each.kind === "rule") return false;
    if (each.kind === "class") classes++;
    if (each.kind === "repeat") return plain(each.part);
    return each.kind === "sequence" || each.kind === "choice" ? each.parts.every(plain) : true;
  };
  return plain(part) && classes > 0;
}

function classes(marks: ReadonlySet<number>): { classOf: Uint8Array; byteOf: Uint8Array } {
  const classOf = new Uint8Array(256);
  const firsts: number[] = [];
  for (let byte = 0; byte < 256; byte++) {
    if (marks.has(byte)) firsts.push(byte);
    classOf[byte] = firsts.length - 1;
  }
  return { classOf, byteOf: Uint8Array.from(firsts) };
}
