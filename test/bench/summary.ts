/** Medians, spread and the tables. */
import type { Decoded, Distance } from "./agreement.ts";
import { type Entrant, ours } from "./entrant.ts";
import type { describeMachine } from "./environment.ts";

export interface Figure {
  median: number;
  least: number;
  most: number;
  values: number[];
}

export interface Rival {
  engine: string;
  /** The one of its settings that came out better. */
  setting: string;
  figure: Figure;
  /** Of its other settings. */
  others: Record<string, Figure>;
  /** Median of the rounds' ratios, ours over theirs: what was measured next to each other is compared with each other. */
  ratio: number;
}

export interface Row {
  what: string;
  unit: string;
  ours: Figure;
  rivals: Rival[];
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

function figure(numbers: readonly number[]): Figure {
  const values = numbers.map((value) => Math.round(value * 100) / 100);
  return { median: median(values), least: Math.min(...values), most: Math.max(...values), values };
}

/** `found`: the rounds of each. `higher`: whether more is better. */
export function summarise(
  what: string,
  unit: string,
  found: ReadonlyMap<Entrant, readonly number[]>,
  higher: boolean,
): Row {
  const own = [...found].find(([{ engine }]) => engine === ours)?.[1] ?? [];
  const engines = new Set([...found.keys()].map(({ engine }) => engine).filter((engine) => engine !== ours));
  const rivals = [...engines].map((engine): Rival => {
    const settings = [...found].filter(([entrant]) => entrant.engine === engine);
    settings.sort(([, a], [, b]) => (higher ? 1 : -1) * (median(b) - median(a)));
    const [best, ...rest] = settings;
    if (best === undefined) throw new Error(`${engine} was not measured`);
    const [{ setting }, values] = best;
    return {
      engine,
      setting,
      figure: figure(values),
      others: Object.fromEntries(rest.map(([other, each]) => [other.setting, figure(each)])),
      ratio: median(own.map((value, round) => value / (values[round] ?? Number.NaN))),
    };
  });
  return { what, unit, ours: figure(own), rivals };
}

export interface Check {
  /** Scored, and of those decoded. */
  positions: number;
  entrants: { engine: string; setting: string; distance: Distance; decoded: Decoded }[];
  passed: boolean;
}

export interface ModelReport {
  title: string;
  file: string;
  bytes: number;
  sha256: string;
  rows: Row[];
  /** What could not be measured as asked, in words. */
  notes: string[];
  /** Null until it is made. */
  check: Check | null;
  load: number[];
  seconds: number;
  finished: boolean;
}

export interface Report {
  what: "peer";
  at: string;
  command: string;
  machine: ReturnType<typeof describeMachine>;
  /** Version of each engine, and what it says of its kernels with each setting, in its own words. */
  engines: Record<string, string>;
  kernels: Record<string, string>;
  kv: string;
  threads: number;
  limits: { mostKl: Record<string, number>; leastSame: number };
  models: ModelReport[];
}

const cell = ({ median: middle, least, most }: Figure): string =>
  `${middle.toFixed(1)} (${least.toFixed(1)} to ${most.toFixed(1)})`;

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

export function rowWords({ what, unit, ours: own, rivals }: Row): string {
  const others = rivals.map(
    ({ engine, setting, figure: { median: middle }, ratio }) =>
      `${engine} ${middle.toFixed(1)} (${setting}; ${ratio.toFixed(2)} x)`,
  );
  return `${what}: ${own.median.toFixed(1)} ${unit}; ${others.join(", ")}`;
}

export function checkTable({ positions, entrants, passed }: Check): string {
  return [
    `| against the same weights in F32, ${positions} positions | mean KL, nats | same likeliest | decoded as the likeliest | nats lost by others |`,
    "|---|---|---|---|---|",
    ...entrants.map(
      ({ engine, setting, distance: { meanKl, sameBest }, decoded: { tokens, likeliest, lost } }) =>
        `| ${engine}${setting === "" ? "" : `, ${setting}`} | ${meanKl.toExponential(1)} | ${percent(sameBest)} | ` +
        `${likeliest} of ${tokens} | ${lost.toFixed(4)} |`,
    ),
    "",
    passed ? "Passed." : "FAILED.",
  ].join("\n");
}

/** One model: speeds, then how near each engine is to what the file means. */
export function modelMarkdown({ title, rows, notes, check, load, seconds, finished }: ModelReport): string {
  const engines = rows[0]?.rivals.map(({ engine }) => engine) ?? [];
  return [
    `### ${title}${finished ? "" : " (not finished)"}`,
    "",
    `| | Halogen |${engines.map((engine) => ` ${engine} | its setting | ratio |`).join("")}`,
    `|---|---|${engines.map(() => "---|---|---|").join("")}`,
    ...rows.map(
      ({ what, unit, ours: own, rivals }) =>
        `| ${what}, ${unit} | ${cell(own)} |` +
        rivals
          .map(({ setting, figure: one, ratio }) => ` ${cell(one)} | ${setting} | ${ratio.toFixed(2)} x |`)
          .join(""),
    ),
    "",
    check === null ? "Not compared with the same weights in F32 yet." : checkTable(check),
    ...notes,
    `Load averages ${load.map((value) => value.toFixed(1)).join(", ")}; ${seconds.toFixed(0)} s.`,
  ].join("\n");
}

export function heading({ machine: { processor, commit }, engines, kv, threads }: Report): string {
  return `${Object.values(engines).join(" against ")}, ${processor}, ${threads} threads, ${kv}, commit ${commit}`;
}

export function footing({ command }: Report): string {
  return `Command: \`${command}\`. Medians of interleaved rounds, least to most in brackets; ratios are Halogen's over the other's; of another engine's settings the better one counts.`;
}

export const markdown = (report: Report): string =>
  [heading(report), ...report.models.map(modelMarkdown), footing(report)].join("\n\n");
