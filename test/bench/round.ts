/** Taking turns. */
import type { Entrant } from "./entrant.ts";

export interface Turns<T> {
  rounds: number;
  /** A round before the first that does not count. */
  warmUp: boolean;
  measure(entrant: Entrant, round: number): Promise<T>;
}

/** Calls `measure` for every entrant once a round, each round beginning with another one. Round 0 is the one that warms up. */
export async function interleave<T>(entrants: readonly Entrant[], turns: Turns<T>): Promise<Map<Entrant, T[]>> {
  const found = new Map<Entrant, T[]>(entrants.map((entrant) => [entrant, []]));
  for (let round = turns.warmUp ? 0 : 1; round <= turns.rounds; round += 1) {
    for (let turn = 0; turn < entrants.length; turn += 1) {
      const entrant = entrants[(round + turn) % entrants.length];
      if (entrant === undefined) throw new Error("nobody runs");
      const value = await turns.measure(entrant, round);
      if (round > 0) found.get(entrant)?.push(value);
    }
  }
  return found;
}

/** What was left out, and how many times slower than another setting of its engine it was. */
export interface Heat {
  stay: Entrant[];
  out: { entrant: Entrant; slower: number }[];
}

/** Leaves those out that are more than a tenth slower than another setting of the same engine. */
export function heat(times: ReadonlyMap<Entrant, number>): Heat {
  const found: Heat = { stay: [], out: [] };
  for (const [entrant, time] of times) {
    const best = Math.min(...[...times].filter(([{ engine }]) => engine === entrant.engine).map(([, each]) => each));
    if (time <= 1.1 * best) found.stay.push(entrant);
    else found.out.push({ entrant, slower: time / best });
  }
  return found;
}
