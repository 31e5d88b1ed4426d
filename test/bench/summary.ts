/** Medians, spread and the tables. */
import type { Distance } from "./agreement.ts";

export interface Figure {
  median: number;
  least: number;
  most: number;
  values: number[];
}

export interface Row {
  what: string;
  unit: string;
  ours: Figure;
  theirs: Figure;
  /** The setting of the other engine that came out better. */
  setting: string;
  /** Median of the rounds' ratios, ours over theirs: what was measured next to each other is compared with each other. */
  ratio: number;
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

/** `theirs`: the rounds of each of the other engine's settings; the better median counts. `higher`: whether more is better. */
export function summarise(
  what: string,
  unit: string,
  ours: readonly number[],
  theirs: ReadonlyMap<string, readonly number[]>,
  higher: boolean,
): Row {
  const ranked = [...theirs].sort(([, a], [, b]) => (higher ? 1 : -1) * (median(b) - median(a)));
  const [setting, values] = ranked[0] ?? ["", []];
  const ratio = median(ours.map((value, round) => value / (values[round] ?? Number.NaN)));
  return { what, unit, ours: figure(ours), theirs: figure(values), setting, ratio };
}

export interface ModelReport {
  title: string;
  file: string;
  rows: Row[];
  /** What could not be measured as asked, in words. */
  notes: string[];
  check: { positions: number; ours: Distance; theirs: Record<string, Distance>; passed: boolean };
  load: [before: number, after: number];
}

export interface Report {
  command: string;
  machine: { processor: string; commit: string };
  engines: { ours: string; theirs: string };
  threads: number;
  models: ModelReport[];
}

const cell = ({ median: middle, least, most }: Figure): string =>
  `${middle.toFixed(1)} (${least.toFixed(1)} to ${most.toFixed(1)})`;

const distanceWords = ({ meanKl, sameBest }: Distance): string =>
  `KL ${meanKl.toExponential(1)}, same likeliest ${(100 * sameBest).toFixed(1)} %`;

export function markdown(report: Report): string {
  const { processor, commit } = report.machine;
  const head = `${report.engines.ours} against ${report.engines.theirs}, ${processor}, ${report.threads} threads, commit ${commit}`;
  const parts = report.models.map(({ title, rows, notes, check, load }) =>
    [
      `### ${title}`,
      "",
      "| | Halogen | llama.cpp | its setting | ratio |",
      "|---|---|---|---|---|",
      ...rows.map(
        (row) =>
          `| ${row.what}, ${row.unit} | ${cell(row.ours)} | ${cell(row.theirs)} | ${row.setting} | ${row.ratio.toFixed(2)} x |`,
      ),
      "",
      `Against the same weights in F32, over ${check.positions} positions: Halogen ${distanceWords(check.ours)}; ` +
        `llama.cpp ${Object.entries(check.theirs)
          .map(([setting, one]) => `${distanceWords(one)} (${setting})`)
          .join("; ")}. ${check.passed ? "Passed." : "FAILED."}`,
      ...notes,
      `Load average ${load.map((value) => value.toFixed(1)).join(" before, ")} after.`,
    ].join("\n"),
  );
  const foot = `Command: \`${report.command}\`. Medians of interleaved rounds, least to most in brackets; of the other engine's settings the better one counts.`;
  return [head, ...parts, foot].join("\n\n");
}
