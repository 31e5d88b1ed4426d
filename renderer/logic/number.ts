/** Rates, times and shares as the page shows them. */
import { formatCount } from "../../app/number.ts";

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

export function formatRate(tokensPerSecond: number): string {
  return `${tokensPerSecond >= 100 ? tokensPerSecond.toFixed(0) : tokensPerSecond.toFixed(1)} tok/s`;
}

export function formatDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 1) return `${seconds.toFixed(2)} s`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Rounded, but never 0 % of something nor 100 % of less than all. */
export function formatPercent(part: number, whole: number): string {
  if (whole <= 0) return "0%";
  const percent = (part / whole) * 100;
  if (percent > 0 && percent < 1) return "<1%";
  return `${percent < 100 ? Math.min(99, Math.round(percent)) : Math.round(percent)}%`;
}

/** Seconds left, in words; empty when it cannot be told. */
export function formatRemaining(received: number, total: number | null, bytesPerSecond: number): string {
  if (total === null || bytesPerSecond <= 0 || received >= total) return "";
  const seconds = (total - received) / bytesPerSecond;
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s left`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min left`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min left`;
}
