/** What may come before a grammar: a thought, as the model's family marks it. It is free; behind its end the grammar begins. */
import type { GrammarThought } from "../engine.ts";
import { encodeUtf8 } from "../token/utf8.ts";
import type { Builder } from "./automaton.ts";

export type Gate = GrammarThought;

/** White space as JavaScript trims it, as far as models write it. */
const blanks = [" ", "\t", "\n", "\r", "\v", "\f"];

/**
 * Not begun: white space and an opening, or the grammar at once. In a thought: any bytes up to the first of `closes`. Behind it: white space, what an
 * answer may begin with, the grammar.
 */
export function addGate(
  builder: Builder,
  gate: Gate,
  { rule, nullable }: { rule: number; nullable: boolean },
): { start: number; nullable: boolean } {
  const { place, skip, call, text, accept } = builder;
  const end = place("gate");
  accept(end);
  const blank = (from: number, target: number): void => {
    for (const each of blanks) text(each, from, target, "gate");
  };

  const closed = place("gate");
  blank(closed, closed);
  for (const each of gate.answers) text(each, closed, closed, "gate");
  call(closed, rule, end);

  const thought = addThought(builder, gate.closes, closed);
  if (gate.begun) return { start: thought, nullable: false };
  const start = place("gate");
  const heads = place("gate");
  skip(start, heads);
  blank(heads, heads);
  text(gate.open, heads, thought, "gate");
  for (const each of gate.answers) text(each, heads, closed, "gate");
  call(start, rule, end);
  return { start, nullable };
}

/** For each marker, how much of its beginning has just been read: several lengths where it overlaps itself, 0 always among them. */
type Progress = readonly (readonly number[])[];

/** Any bytes, until one of the markers is complete for the first time. */
function addThought({ place, edge }: Builder, markers: readonly string[], behind: number): number {
  const sought = markers.map((each) => encodeUtf8(each));
  const places = new Map<string, number>();
  const pending: { progress: Progress; from: number }[] = [];
  const at = (progress: Progress): number => {
    const key = progress.map((lengths) => lengths.join()).join(";");
    let found = places.get(key);
    if (found === undefined) {
      found = place("thought");
      places.set(key, found);
      pending.push({ progress, from: found });
    }
    return found;
  };
  const after = (progress: Progress, byte: number): number => {
    const next = progress.map((lengths, index) => {
      const marker = sought[index] as Uint8Array;
      return [0, ...lengths.filter((length) => marker[length] === byte).map((length) => length + 1)];
    });
    const complete = next.some((lengths, index) => lengths.includes((sought[index] as Uint8Array).length));
    return complete ? behind : at(next);
  };

  const first = at(sought.map(() => [0]));
  for (let here = pending.pop(); here !== undefined; here = pending.pop()) {
    let low = 0;
    for (let byte = 1; byte <= 256; byte++) {
      const target = after(here.progress, low);
      if (byte < 256 && after(here.progress, byte) === target) continue;
      edge(here.from, [low, byte - 1], target);
      low = byte;
    }
  }
  return first;
}
