/**
 * All ways in which the bytes so far can have been read. Sets of places, each with a stack that is shared between all that are in the same rule from
 * the same byte on, so that no grammar makes them grow beyond its places times the bytes read. States are made when they are first met and kept.
 */
import { HalogenError } from "../error.ts";
import type { Automaton } from "./automaton.ts";

/** Where to go on when a rule ends: places, and with each the stack below. Ascending, no pair twice. */
export interface Stack {
  id: number;
  places: readonly number[];
  below: readonly Stack[];
}

export interface State {
  readonly readers: readonly number[];
  readonly stacks: readonly Stack[];
  /** The grammar may end here. */
  readonly done: boolean;
  /** What may come before the grammar may still go on. */
  readonly gated: boolean;
  /** By class of bytes, as far as it was asked for; null: nothing goes on. */
  next: (State | null | undefined)[];
  /** The same for what comes before the grammar alone. */
  nextInGate: (State | null | undefined)[] | null;
}

export interface States {
  automaton: Automaton;
  start: State;
  after(state: State, byteClass: number): State | null;
  /** Without leaving what comes before the grammar, except at the end of a marker. */
  afterInGate(state: State, byteClass: number): State | null;
  /** The state of places that are reached at once; null: nothing goes on and nothing ends. */
  at(places: readonly number[], stacks: readonly Stack[]): State | null;
  /** Below everything. */
  bottom: Stack;
}

/** States and stacks that are kept at most. */
const mostKept = 30_000;
const mostWays = 20_000;
const final = -1;

export function createStates(automaton: Automaton): States {
  const { rules, ranks } = automaton;
  const bottom: Stack = { id: 0, places: [final], below: [] };
  const stacks = new Map<string, Stack>();
  const states = new Map<string, State>();
  let stackIds = 1;

  const tidy = (): void => {
    if (states.size + stacks.size < mostKept) return;
    for (const state of states.values()) {
      state.next = [];
      state.nextInGate = null;
    }
    states.clear();
    stacks.clear();
  };

  const stackOf = (places: readonly number[], below: readonly Stack[]): Stack => {
    const order = sorted(places, below);
    const key = order.map((at) => `${places[at]}.${below[at]?.id}`).join();
    let found = stacks.get(key);
    if (found === undefined) {
      found = {
        id: stackIds++,
        places: order.map((at) => places[at] as number),
        below: order.map((at) => below[at] as Stack),
      };
      stacks.set(key, found);
    }
    return found;
  };

  const at = (fromPlaces: readonly number[], fromStacks: readonly Stack[]): State | null => {
    const places = [...fromPlaces];
    const under = [...fromStacks];
    const seen = new Map<number, Stack[]>();
    const readers: number[] = [];
    const readerStacks: Stack[] = [];
    const calls = new Map<number, { places: number[]; below: Stack[] }>();
    let done = false;

    for (let index = 0; ; index++) {
      if (index === places.length) {
        // Rules that are called from the left of others come first, so that all calls of a rule share one stack.
        let first = -1;
        for (const rule of calls.keys())
          if (first < 0 || (ranks[rule] as number) < (ranks[first] as number)) first = rule;
        if (first < 0) break;
        const { places: returns, below } = calls.get(first) as { places: number[]; below: Stack[] };
        calls.delete(first);
        places.push(rules[first]?.start as number);
        under.push(stackOf(returns, below));
      }
      const place = places[index] as number;
      const stack = under[index] as Stack;
      if (place === final) {
        done = true;
        continue;
      }
      const known = seen.get(place);
      if (known === undefined) seen.set(place, [stack]);
      else if (known.includes(stack)) continue;
      else known.push(stack);
      if (index > mostWays) throw tooManyWays();

      const { accepts, calls: made, readers: found } = automaton.core(place);
      for (const reader of found) {
        readers.push(reader);
        readerStacks.push(stack);
      }
      if (accepts) {
        for (const [at, back] of stack.places.entries()) {
          places.push(back);
          under.push(stack.below[at] ?? bottom);
        }
      }
      for (const { rule, target } of made) {
        const call = calls.get(rule) ?? { places: [], below: [] };
        calls.set(rule, call);
        const last = automaton.core(target);
        if (last.accepts && last.calls.length === 0 && last.readers.length === 0) {
          // The rule ends with this call, so that what is called may return to where the rule would.
          call.places.push(...stack.places);
          call.below.push(...stack.places.map((_, at) => stack.below[at] ?? bottom));
        } else {
          call.places.push(target);
          call.below.push(stack);
        }
      }
    }
    if (readers.length === 0 && !done) return null;
    return stateOf(readers, readerStacks, done);
  };

  const stateOf = (readers: readonly number[], readerStacks: readonly Stack[], ended: boolean): State => {
    const roles = readers.map(automaton.role);
    const thought = roles.includes("thought");
    const order = sorted(readers, readerStacks).filter((at) => !thought || roles[at] !== "grammar");
    const done = ended && !thought;
    const key = `${done ? "!" : ""}${order.map((at) => `${readers[at]}.${readerStacks[at]?.id}`).join()}`;
    let found = states.get(key);
    if (found === undefined) {
      found = {
        readers: order.map((at) => readers[at] as number),
        stacks: order.map((at) => readerStacks[at] as Stack),
        done,
        gated: order.some((at) => roles[at] !== "grammar"),
        next: [],
        nextInGate: null,
      };
      states.set(key, found);
    }
    return found;
  };

  const step = (state: State, byteClass: number, gate: boolean): State | null => {
    tidy();
    const places: number[] = [];
    const under: Stack[] = [];
    state.readers.forEach((reader, index) => {
      if (gate && automaton.role(reader) === "grammar") return;
      for (const target of automaton.targets(reader, byteClass)) {
        places.push(target);
        under.push(state.stacks[index] as Stack);
      }
    });
    return places.length === 0 ? null : at(places, under);
  };

  const start = at([rules[automaton.root]?.start as number], [bottom]);
  if (start === null) throw new HalogenError("grammar.impossible", "No text fits this grammar");
  return {
    automaton,
    start,
    bottom,
    at,
    after(state, byteClass) {
      const known = state.next[byteClass];
      if (known !== undefined) return known;
      const made = step(state, byteClass, false);
      state.next[byteClass] = made;
      return made;
    },
    afterInGate(state, byteClass) {
      state.nextInGate ??= [];
      const known = state.nextInGate[byteClass];
      if (known !== undefined) return known;
      const made = step(state, byteClass, true);
      state.nextInGate[byteClass] = made;
      return made;
    },
  };
}

/** By place, then stack; each pair once. */
function sorted(places: readonly number[], stacks: readonly Stack[]): number[] {
  if (places.length === 1) return [0];
  const id = (at: number): number => (stacks[at] as Stack | undefined)?.id ?? 0;
  const order = places
    .map((_, at) => at)
    .sort((a, b) => (places[a] as number) - (places[b] as number) || id(a) - id(b));
  return order.filter((at, index) => {
    const before = order[index - 1];
    return before === undefined || places[before] !== places[at] || id(before) !== id(at);
  });
}

function tooManyWays(): HalogenError {
  return new HalogenError("grammar.unsupported", `A text can be read in more than ${mostWays} ways in this grammar`, {
    hint: "Make what may follow each part differ from what may go on with it.",
    detail: { most: mostWays },
  });
}
