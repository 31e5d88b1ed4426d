/** Numbers as people are shown them, on the page and on the command line. Binary units for bytes (GiB), because memory limits are given in them. */

const grouped = new Intl.NumberFormat("en-US");
const binaryUnits = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

export function formatCount(value: number): string {
  return grouped.format(Math.round(value));
}

function scale(bytes: number): { divisor: number; unit: string } {
  let exponent = 0;
  while (exponent < binaryUnits.length - 1 && bytes >= 1024 ** (exponent + 1)) exponent += 1;
  return { divisor: 1024 ** exponent, unit: binaryUnits[exponent] ?? "B" };
}

function significant(value: number): string {
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}

export function formatBytes(bytes: number): string {
  const { divisor, unit } = scale(bytes);
  return `${significant(bytes / divisor)} ${unit}`;
}

/** "24.7 of 96 GiB": both in the unit of the larger. */
export function formatShare(used: number, total: number): string {
  const { divisor, unit } = scale(total);
  return `${significant(used / divisor)} of ${significant(total / divisor)} ${unit}`;
}

export function formatParameters(count: number): string {
  if (count >= 1e9) return `${significant(count / 1e9)}B`;
  if (count >= 1e6) return `${significant(count / 1e6)}M`;
  return formatCount(count);
}
