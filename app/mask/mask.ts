/** From a state to the set of tokens that may come: bit id % 32 of word id / 32. */
import type { GrammarThought } from "../engine.ts";
import type { Grammar } from "../grammar/expression.ts";
import { encodeUtf8 } from "../token/utf8.ts";
import { buildAutomaton } from "./automaton.ts";
import { maskOfParts, type Repetition, readRepetition } from "./repetition.ts";
import { createStates, type Stack, type State } from "./state.ts";
import type { Trie } from "./trie.ts";

/** What the tokens of a model print; made once for a model. */
export interface TokenTexts {
  /** A character a byte; "" = never allowed. */
  texts: readonly string[];
  trie: Trie;
  /** Tokens that print nothing in a reply, but stand in what may come before a grammar: their texts, by id. */
  marks: ReadonlyMap<number, string>;
  /** Of parts of grammars, by how they look; null: not of use. The last ones are kept. */
  repetitions: Map<string, Repetition | null>;
}

/** A compiled grammar: where its replies begin. */
export interface MaskMaker {
  start: State;
  /** null: the token does not fit. */
  after(state: State, id: number): State | null;
  /** Text as it stands, whatever its tokens; null: it does not fit. */
  read(state: State, text: string): State | null;
  /** Not to be changed. Stop tokens are not in it; `state.done` says whether they may come. */
  mask(state: State): Uint32Array;
}

const mostRepetitions = 32;
const mostMasks = 48;
/** Tables that are made before a reply begins; others are made when they are first wanted. */
const mostPrepared = 8;

/** Throws grammar.unsupported and grammar.impossible. */
export function createMaskMaker(tokens: TokenTexts, grammar: Grammar, thought: GrammarThought | null): MaskMaker {
  const states = createStates(buildAutomaton(grammar, thought));
  const { automaton } = states;
  const { classOf, classCount, rules } = automaton;
  const { trie, texts } = tokens;
  const words = Math.ceil(texts.length / 32);
  const marks = new Map(thought === null ? [] : [...tokens.marks].filter(([, text]) => speaksOf(thought, text)));
  const kept = new Map<State, Uint32Array>();
  const path: State[] = new Array(trie.deepest + 1);

  /** All that lies on nodes from..to, which are reached through a node of depth `above` in this state. */
  const walk = (state: State, from: number, to: number, above: number, bits: Uint32Array): void => {
    path[above] = state;
    for (let node = from; node < to; ) {
      const depth = trie.depth[node] as number;
      const before = path[depth - 1] as State;
      const byteClass = classOf[trie.byte[node] as number] as number;
      const known = before.next[byteClass];
      const after = known === undefined ? states.after(before, byteClass) : known;
      if (after === null) {
        node = trie.end[node] as number;
        continue;
      }
      allowNode(node, bits);
      path[depth] = after;
      node++;
    }
  };

  const allowNode = (node: number, bits: Uint32Array): void => {
    const end = trie.first[node + 1] as number;
    for (let at = trie.first[node] as number; at < end; at++) {
      const id = trie.ids[at] as number;
      bits[id >>> 5] = (bits[id >>> 5] as number) | (1 << (id & 31));
    }
  };

  const repetitionOf = (body: number): Repetition | null => {
    const rule = rules[body];
    if (rule === undefined || rule.body === null) return null;
    const { repetitions } = tokens;
    let found = repetitions.get(rule.body);
    if (found === undefined) {
      const start = states.at([rule.start], [states.bottom]);
      found = start === null ? null : readRepetition(states, start, trie);
    } else repetitions.delete(rule.body);
    repetitions.set(rule.body, found);
    for (const oldest of repetitions.keys()) {
      if (repetitions.size <= mostRepetitions) break;
      repetitions.delete(oldest);
    }
    return found;
  };

  interface Loop {
    /** What goes on behind the last part. */
    exit: State | null;
    /** More parts that have to, and may, come. */
    least: number;
    most: number;
  }

  /** Loops over one part, of which this state is between two parts and nothing else; null when it is not, or they and what follows them look alike. */
  const loopsAt = (state: State): { repetition: Repetition; loops: Loop[] } | null => {
    for (const stack of new Set(state.stacks)) {
      const found = loopsOf(state, stack);
      if (found !== null) return found;
    }
    return null;
  };

  const loopsOf = (state: State, stack: Stack): { repetition: Repetition; loops: Loop[] } | null => {
    const counters = stack.places.map((place) => automaton.counter(place));
    const body = counters[0]?.counter.body;
    if (body === undefined || counters.some((each) => each?.counter.body !== body)) return null;
    // How often the part had come before: one less, or as often where counting has ended.
    for (const ended of [true, false]) {
      const counts = counters.map((each) => {
        const { counter, count } = each as NonNullable<typeof each>;
        return ended && counter.most === Number.POSITIVE_INFINITY && count === counter.least ? count : count - 1;
      });
      if (counts.some((count) => count < 0)) continue;
      const places = counters.map((each, index) => (each?.places ?? 0) + (counts[index] as number));
      if (states.at(places, stack.below) !== state) continue;
      const repetition = repetitionOf(body);
      if (repetition === null) return null;
      const part = states.at([rules[body]?.start as number], [states.bottom]);
      const loops = counters.map((each, index): Loop => {
        const { counter } = each as NonNullable<typeof each>;
        const count = counts[index] as number;
        const { places: back, below } = stack.below[index] as Stack;
        const exit = states.at(
          back,
          back.map((_, at) => below[at] ?? states.bottom),
        );
        return { exit, least: Math.max(0, counter.least - count), most: counter.most - count };
      });
      const alike = loops.some(({ exit }) => exit !== null && part !== null && overlap(exit, part));
      return alike ? null : { repetition, loops };
    }
    return null;
  };

  const overlap = (one: State, other: State): boolean => {
    for (let each = 0; each < classCount; each++) {
      if (states.after(one, each) !== null && states.after(other, each) !== null) return true;
    }
    return false;
  };

  const allowLoops = ({ repetition, loops }: { repetition: Repetition; loops: Loop[] }): Uint32Array => {
    const bits = maskOfParts(repetition, Math.max(...loops.map(({ most }) => most)), words).slice();
    for (const { exit, least, most } of loops) {
      if (exit === null) continue;
      for (const [byte, found] of repetition.exits.entries()) {
        if (found === undefined) continue;
        const after = states.after(exit, classOf[byte] as number);
        if (after === null) continue;
        for (const [at, node] of found.nodes.entries()) {
          const parts = found.parts[at] as number;
          if (parts < least || parts > most) continue;
          allowNode(node, bits);
          walk(after, node + 1, trie.end[node] as number, trie.depth[node] as number, bits);
        }
      }
    }
    return bits;
  };

  const made = (state: State): Uint32Array => {
    const loops = state.gated ? null : loopsAt(state);
    let bits: Uint32Array;
    if (loops !== null) bits = allowLoops(loops);
    else {
      bits = new Uint32Array(words);
      walk(state, 0, trie.count, 0, bits);
    }
    if (!state.gated) return bits;
    for (const [id, text] of marks) {
      if (afterMark(state, text) !== null) bits[id >>> 5] = (bits[id >>> 5] as number) | (1 << (id & 31));
    }
    return bits;
  };

  const afterMark = (from: State, text: string): State | null => {
    let state: State | null = from;
    for (let at = 0; at < text.length && state !== null; at++) {
      state = states.afterInGate(state, classOf[text.charCodeAt(at)] as number);
    }
    return state;
  };

  const listed = rules.flatMap(({ body }, rule) => (body === null ? [] : [rule]));
  for (const rule of listed.slice(0, mostPrepared)) repetitionOf(rule);

  return {
    start: states.start,
    after(from, id) {
      const text = texts[id] ?? "";
      if (text === "") {
        const mark = marks.get(id);
        return mark === undefined ? null : afterMark(from, mark);
      }
      let state: State | null = from;
      for (let at = 0; at < text.length && state !== null; at++) {
        state = states.after(state, classOf[text.charCodeAt(at)] as number);
      }
      return state;
    },
    read(from, text) {
      let state: State | null = from;
      for (const byte of encodeUtf8(text)) {
        state = states.after(state, classOf[byte] as number);
        if (state === null) return null;
      }
      return state;
    },
    mask(state) {
      const known = kept.get(state);
      if (known !== undefined) {
        kept.delete(state);
        kept.set(state, known);
        return known;
      }
      const bits = made(state);
      kept.set(state, bits);
      for (const oldest of kept.keys()) {
        if (kept.size <= mostMasks) break;
        kept.delete(oldest);
      }
      return bits;
    },
  };
}

/** Whether a token is a part of a marker, so that a reader of the reply sees it; other control tokens are no text. */
function speaksOf({ opens, leads, answers }: GrammarThought, text: string): boolean {
  return [...opens, ...leads]
    .map((marker) => marker.text)
    .concat(answers)
    .some((marker) => marker.includes(text) || text.includes(marker));
}
