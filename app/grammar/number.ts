/** Numbers within bounds, digit by digit. Bounds are exact decimals, so that no rounding lets one through. */
import { characterSet, choice, type Expression, nothing, repeat, sequence, text } from "./expression.ts";

export interface Bounds {
  /** Both included; null = none. */
  from: Decimal | null;
  to: Decimal | null;
}

/** mantissa * 10^-scale */
export interface Decimal {
  mantissa: bigint;
  scale: number;
}

const digitClass = (from: number, to: number): Expression => characterSet(from === to ? `${from}` : `${from}-${to}`);
const anyDigits = (count: number): Expression[] => (count === 0 ? [] : [repeat(characterSet("0-9"), count, count)]);
/** What an unbounded side may reach: exact in every reader. */
const mostDigits = 15;

/** The shortest decimal that reads back as this number, as JavaScript prints it. */
export function decimalOf(value: number): Decimal {
  const [, sign = "", whole = "0", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  let mantissa = BigInt(whole + fraction);
  let scale = fraction.length - Number(exponent);
  if (scale < 0) {
    mantissa *= 10n ** BigInt(-scale);
    scale = 0;
  }
  return { mantissa: sign === "-" ? -mantissa : mantissa, scale };
}

/** floor or ceiling of value * 10^digits */
function scaled({ mantissa, scale }: Decimal, digits: number, up: boolean): bigint {
  if (digits >= scale) return mantissa * 10n ** BigInt(digits - scale);
  const unit = 10n ** BigInt(scale - digits);
  const floor = mantissa / unit - (mantissa % unit < 0n ? 1n : 0n);
  return up && floor * unit !== mantissa ? floor + 1n : floor;
}

const limit = 10n ** BigInt(mostDigits) - 1n;

/** Whole numbers between the bounds; matches nothing when there is none. */
export function integersWithin({ from, to }: Bounds): Expression {
  const low = from === null ? -limit : scaled(from, 0, true);
  const high = to === null ? limit : scaled(to, 0, false);
  return signed(low, high, (a, b) => natural(a, b, 0));
}

/** Decimals between the bounds: whole ones, and ones with as many places as the bounds have and up to three more. */
export function numbersWithin(bounds: Bounds): Expression {
  const places = Math.max(bounds.from?.scale ?? 0, bounds.to?.scale ?? 0) + 3;
  const branches = [integersWithin(bounds)];
  for (let digits = 1; digits <= places; digits++) {
    const unbounded = 10n ** BigInt(Math.max(1, mostDigits - digits) + digits) - 1n;
    const low = bounds.from === null ? -unbounded : scaled(bounds.from, digits, true);
    const high = bounds.to === null ? unbounded : scaled(bounds.to, digits, false);
    branches.push(signed(low, high, (a, b) => natural(a, b, digits)));
  }
  return choice(...branches);
}

function signed(low: bigint, high: bigint, between: (from: bigint, to: bigint) => Expression): Expression {
  if (low > high) return nothing;
  const branches: Expression[] = [];
  if (high >= 0n) branches.push(between(low > 0n ? low : 0n, high));
  if (low < 0n) branches.push(sequence(text("-"), between(high < 0n ? -high : 1n, -low)));
  return choice(...branches);
}

/** Digits of whole numbers from..to (0 <= from <= to), with a point before the last `places` ones. */
function natural(from: bigint, to: bigint, places: number): Expression {
  const branches: Expression[] = [];
  const shortest = places + 1;
  let low = from;
  while (low <= to) {
    const length = Math.max(low.toString().length, shortest);
    const last = 10n ** BigInt(length) - 1n;
    const high = to < last ? to : last;
    branches.push(fixed(low.toString().padStart(length, "0"), high.toString().padStart(length, "0"), places));
    low = last + 1n;
  }
  return choice(...branches);
}

/** Digit strings of one length between two, both included. */
function fixed(from: string, to: string, places: number): Expression {
  const point = (left: number): Expression[] => (left === places && places > 0 ? [text(".")] : []);
  const free = (left: number): Expression[] => {
    if (left === 0) return [];
    if (places === 0 || left < places) return anyDigits(left);
    return [...anyDigits(left - places), text("."), ...anyDigits(places)];
  };
  /** The last `left` digits, at least `low` and at most `high` (null: no bound any more). */
  const walk = (low: string | null, high: string | null, left: number): Expression => {
    const head = point(left);
    if (low === null && high === null)
      return sequence(...(left === places && places > 0 ? [text("."), ...anyDigits(left)] : free(left)));
    if (left === 0) return text("");
    const a = low === null ? 0 : Number(low[0]);
    const b = high === null ? 9 : Number(high[0]);
    const rest = (side: string | null): string | null => (side === null ? null : side.slice(1));
    if (a === b) return sequence(...head, digitClass(a, a), walk(rest(low), rest(high), left - 1));
    const branches: Expression[] = [];
    let first = a;
    let last = b;
    if (low !== null && !/^0*$/.test(low.slice(1))) {
      branches.push(sequence(...head, digitClass(a, a), walk(rest(low), null, left - 1)));
      first++;
    }
    if (high !== null && !/^9*$/.test(high.slice(1))) {
      branches.push(sequence(...head, digitClass(b, b), walk(null, rest(high), left - 1)));
      last--;
    }
    if (first <= last) branches.push(sequence(...head, digitClass(first, last), walk(null, null, left - 1)));
    return choice(...branches);
  };
  return walk(from, to, from.length);
}
