import type { WireError } from "../../app/error.ts";
import { formatBytes, formatCount } from "../../app/number.ts";

type Detail = WireError["detail"];

/** What counts bytes, by the code of the fault, in the order in which it is told. */
const inBytes: Readonly<Record<string, readonly string[]>> = {
  "model.too_large": ["needed", "available", "weights", "kv", "recurrent", "checkpoints", "scratch"],
  "download.failed": ["need", "free"],
};

const names: Readonly<Record<string, string>> = { kv: "keys and values", recurrent: "recurrent state" };

/** "availableBytes" -> "available bytes". */
function nameOf(key: string): string {
  const apart = key.replace(
    /([a-z])([A-Z])/g,
    (_, before: string, after: string) => `${before} ${after.toLowerCase()}`,
  );
  return names[key] ?? apart.replace(/_/g, " ");
}

function textOf(value: Detail[string], bytes: boolean): string {
  if (typeof value !== "number") return String(value);
  return bytes ? formatBytes(value) : formatCount(value);
}

/** The numbers and names of a fault, for people; parts that take no bytes are left out. */
export function errorDetails({ code, detail }: Pick<WireError, "code" | "detail">): [name: string, text: string][] {
  const first = inBytes[code] ?? [];
  const keys = [...first.filter((key) => key in detail), ...Object.keys(detail).filter((key) => !first.includes(key))];
  return keys
    .filter((key) => !(first.includes(key) && detail[key] === 0))
    .map((key) => [nameOf(key), textOf(detail[key] ?? null, first.includes(key))]);
}
