/** Taking turns. */
import { type Entrant, title } from "./entrant.ts";
import { median } from "./summary.ts";

export interface Turns<T> {
  rounds: number;
  /** A round before the first that does not count. */
  warmUp: boolean;
  measure(entrant: Entrant, round: number): Promise<T>;
  /** Milliseconds. Where given, a setting that came out more than a tenth slower than another of its engine in the first round is left out afterwards. */
  race?(value: T): number;
}

/** Calls `measure` for every entrant once a round, each round beginning with another one. Round 0 is the one that warms up. */
export async function interleave<T>(entrants: readonly Entrant[], turns: Turns<T>): Promise<Map<Entrant, T[]>> {
  const found = new Map<Entrant, T[]>(entrants.map((entrant) => [entrant, []]));
  let running = [...entrants];
  for (let round = turns.warmUp ? 0 : 1; round <= turns.rounds; round += 1) {
    for (let turn = 0; turn < running.length; turn += 1) {
      const entrant = running[(round + turn) % running.length];
      if (entrant === undefined) throw new Error("nobody runs");
      const value = await turns.measure(entrant, round);
      if (round > 0) found.get(entrant)?.push(value);
    }
    if (round === 1 && turns.race !== undefined) running = fastest(running, found, turns.race);
  }
  return found;
}

function fastest<T>(running: Entrant[], found: Map<Entrant, T[]>, race: (value: T) => number): Entrant[] {
  const time = (entrant: Entrant): number => median((found.get(entrant) ?? []).map(race));
  return running.filter((entrant) => {
    const best = Math.min(...running.filter(({ engine }) => engine === entrant.engine).map(time));
    const stays = time(entrant) <= 1.1 * best;
    if (!stays) process.stderr.write(`  ${title(entrant)} is left out of further rounds\n`);
    return stays;
  });
}
