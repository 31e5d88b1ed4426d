/** Medians, spread and the table. */

/** One run of one engine: rates in tokens per millisecond, and what it generated. */
export interface Timing {
  prefill: number;
  decode: number;
  ids: number[];
}

export interface Row {
  what: string;
  unit: "tokens/s";
  ours: Figure;
  theirs: Figure;
  /** Median of the rounds' ratios: what was measured next to each other is compared with each other. */
  ratio: number;
}

export interface Figure {
  median: number;
  least: number;
  most: number;
  values: number[];
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export function summarise(
  what: string,
  timings: { ours: readonly Timing[]; theirs: readonly Timing[] },
  rate: (timing: Timing) => number,
): Row {
  const figure = (runs: readonly Timing[]): Figure => {
    const values = runs.map((timing) => Math.round(rate(timing) * 1e5) / 100);
    return { median: median(values), least: Math.min(...values), most: Math.max(...values), values };
  };
  const ours = figure(timings.ours);
  const theirs = figure(timings.theirs);
  const ratio = median(ours.values.map((value, round) => value / (theirs.values[round] ?? Number.NaN)));
  return { what, unit: "tokens/s", ours, theirs, ratio };
}

interface Report {
  machine: { processor: string; loadBefore: number; commit: string };
  model: { file: string };
  engines: { halogen: { version: string }; peer: { version: string } };
  threads: number;
  rows: Row[];
  check: { words: string };
  command: string;
}

export function markdown(report: Report): string {
  const cell = ({ median: middle, least, most }: Figure): string =>
    `${middle.toFixed(1)} (${least.toFixed(1)} to ${most.toFixed(1)})`;
  return [
    `${report.model.file} on ${report.machine.processor}, ${report.threads} threads, commit ${report.machine.commit}`,
    "",
    `| tokens/s | Halogen ${report.engines.halogen.version} | ${report.engines.peer.version} | ratio |`,
    "|---|---|---|---|",
    ...report.rows.map(
      (row) => `| ${row.what} | ${cell(row.ours)} | ${cell(row.theirs)} | ${row.ratio.toFixed(2)} x |`,
    ),
    "",
    `Check: ${report.check.words}`,
    `Command: \`${report.command}\`; medians of interleaved rounds, least to most in brackets; load average before: ${report.machine.loadBefore.toFixed(1)}`,
  ].join("\n");
}
