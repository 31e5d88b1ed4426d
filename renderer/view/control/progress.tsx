import { formatPercent } from "../../logic/number.ts";

/** A bar of `value` of `total`; without a total it says only that something goes on. */
export function ProgressBar({ value, total, label }: { value: number; total: number | null; label: string }) {
  const known = total !== null && total > 0;
  return (
    <progress
      className="progress"
      aria-label={label}
      {...(known ? { value: Math.min(value, total), max: total, "aria-valuetext": formatPercent(value, total) } : {})}
    />
  );
}
