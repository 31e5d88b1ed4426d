/** What may come before a grammar: a thought, as the model's family marks it. It is free; behind its end the grammar begins. */
import type { GrammarThought } from "../engine.ts";
import { encodeUtf8 } from "../token/utf8.ts";
import type { Builder } from "./automaton.ts";

export type Gate = GrammarThought;

/** White space as JavaScript trims it, as far as models write it. */
const blanks = [" ", "\t", "\n", "\r", "\v", "\f"];

/** Of white space before and behind markers, so that nothing can go on for ever but a thought. */
const mostBlanks = 16;

/**
 * Not begun: white space and what opens a thought or an answer, or the grammar at once. In a thought: any bytes up to the first of `leads`. Behind it:
 * white space, what an answer may begin with (once), the grammar.
 */
export function addGate(
  builder: Builder,
  gate: Gate,
  { rule, nullable }: { rule: number; nullable: boolean },
): { start: number; nullable: boolean } {
  const { place, skip, call, text, accept } = builder;
  const end = place("gate");
  accept(end);
  /** A place with white space behind it, at each of which may follow what `follow` adds. */
  const spaced = (follow: (from: number) => void): number => {
    const first = place("gate");
    let at = first;
    for (let count = 0; ; count++) {
      follow(at);
      if (count === mostBlanks) return first;
      const next = place("gate");
      for (const each of blanks) text(each, at, next, "gate");
      at = next;
    }
  };
  const answered = spaced((from) => call(from, rule, end));
  const closed = spaced((from) => {
    for (const each of gate.answers) text(each, from, answered, "gate");
    call(from, rule, end);
  });

  const thought = addThought(builder, gate, closed);
  if (gate.begun) return { start: thought, nullable: false };
  const start = place("gate");
  const heads = spaced((from) => {
    for (const each of gate.opens) text(each.text, from, each.to === "thought" ? thought : closed, "gate");
  });
  skip(start, heads);
  call(start, rule, end);
  return { start, nullable };
}

/** For each marker, how much of its beginning has just been read; several lengths where it overlaps itself. */
type Progress = readonly (readonly number[])[];

interface Marker {
  bytes: Uint8Array;
  to: "thought" | "answer" | "nowhere";
  /** From so many bytes on nothing but this marker may come. */
  bound: number;
}

/** Any bytes, until one of the markers is complete for the first time. */
function addThought({ place, edge }: Builder, { leads, never }: Gate, closed: number): number {
  const markers = [
    ...leads.map(({ text, to, bound = "" }): Marker => {
      const least = encodeUtf8(bound).length;
      return { bytes: encodeUtf8(text), to, bound: least > 0 ? least : Number.POSITIVE_INFINITY };
    }),
    ...never.map((text): Marker => ({ bytes: encodeUtf8(text), to: "nowhere", bound: Number.POSITIVE_INFINITY })),
  ];
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
  const start: Progress = markers.map(() => [0]);
  const nowhere = -1;
  const after = (progress: Progress, byte: number): number => {
    const begun = progress.map((lengths, index) => lengths.filter((length) => length >= (markers[index]?.bound ?? 0)));
    const bound = begun.some((lengths) => lengths.length > 0);
    const next = (bound ? begun : progress).map((lengths, index) => {
      const on = lengths.filter((length) => markers[index]?.bytes[length] === byte).map((length) => length + 1);
      return bound ? on : [0, ...on];
    });
    if (next.every((lengths) => lengths.length === 0)) return nowhere;
    const complete = next.map((lengths, index) => lengths.includes(markers[index]?.bytes.length ?? -1));
    const first = markers.filter((_, index) => complete[index]);
    // A marker that is bound from here on is not one that never comes.
    const leaves = next.some((lengths, index) => lengths.some((length) => length >= (markers[index]?.bound ?? 0)));
    const lead = first.find(({ to }) => to !== "nowhere");
    if (lead !== undefined) return lead.to === "thought" ? at(start) : closed;
    return first.length > 0 && !leaves ? nowhere : at(next);
  };

  const first = at(start);
  for (let here = pending.pop(); here !== undefined; here = pending.pop()) {
    let low = 0;
    for (let byte = 1; byte <= 256; byte++) {
      const target = after(here.progress, low);
      if (byte < 256 && after(here.progress, byte) === target) continue;
      if (target !== nowhere) edge(here.from, [low, byte - 1], target);
      low = byte;
    }
  }
  return first;
}
