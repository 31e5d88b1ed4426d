/** Strings, numbers and fixed values of a schema. */
import { HalogenError } from "../error.ts";
import { choice, type Expression, lengths, nothing, repeat, rule, sequence } from "./expression.ts";
import { character, insideString, jsonString, sizedString } from "./json.ts";
import { type Decimal, decimalOf, integersWithin, numbersWithin } from "./number.ts";
import { parseRegex } from "./regex.ts";
import { child, impossible, invalid, type Schema, unsupported } from "./schema-merge.ts";

const date = "\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2[0-8]))";
const time = "([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,6})?(Z|[+\\-]([01]\\d|2[0-3]):[0-5]\\d)";
const octet = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const label = "[a-z0-9]([a-z0-9\\-]{0,30}[a-z0-9])?";

/** Each allows a part of what the format allows, all of it valid. */
const formats: Readonly<Record<string, string>> = {
  date,
  time,
  "date-time": `${date}T${time}`,
  uuid: "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
  ipv4: `${octet}(\\.${octet}){3}`,
  hostname: `${label}(\\.${label}){0,4}`,
  email: `[a-z0-9]{1,20}([._+\\-][a-z0-9]{1,20}){0,3}@${label}(\\.${label}){0,2}\\.[a-z]{2,10}`,
  uri: `https?:\\/\\/${label}(\\.${label}){0,3}(\\/[A-Za-z0-9._~\\-]{0,40}){0,6}`,
};

/** No context holds more. */
const largestLeast = 1_000_000;

export function stringOf(given: Schema, place: string): Expression {
  const least = length(given.minLength, child(place, "minLength")) ?? 0;
  if (least > largestLeast)
    throw unsupported(child(place, "minLength"), `a least length above ${largestLeast}`, "No reply gets that long.");
  const most = length(given.maxLength, child(place, "maxLength"));
  if (most !== null && least > most)
    throw impossible(child(place, "maxLength"), `at least ${least} and at most ${most} characters are wanted`);
  if (given.pattern !== undefined && given.format !== undefined)
    throw unsupported(child(place, "format"), '"format" beside "pattern"');
  if (given.pattern !== undefined) return patterned(given, least, most, place);
  if (given.format === undefined) return sizedString(least, most);
  const format = typeof given.format === "string" ? formats[given.format] : undefined;
  if (format === undefined) {
    throw unsupported(
      child(place, "format"),
      `the format ${JSON.stringify(given.format)}`,
      `There are: ${Object.keys(formats).join(", ")}.`,
    );
  }
  return sized(wholeMatch(format), least, most, child(place, "format"));
}

function patterned(given: Schema, least: number, most: number | null, place: string): Expression {
  const at = child(place, "pattern");
  if (typeof given.pattern !== "string") throw invalid(at, "a regular expression is expected");
  const any = repeat(character, 0, null);
  try {
    const body = choice(
      ...parseRegex(given.pattern).map((each) =>
        sequence(...(each.fromStart ? [] : [any]), each.body, ...(each.toEnd ? [] : [any])),
      ),
    );
    return sized(body, least, most, at);
  } catch (error) {
    if (!(error instanceof HalogenError) || error.detail.pointer !== undefined) throw error;
    throw new HalogenError(error.code, error.message, { hint: error.hint, detail: { ...error.detail, pointer: at } });
  }
}

/** A pattern cannot be cut to a length; one that keeps to it by itself is fine. */
function sized(body: Expression, least: number, most: number | null, place: string): Expression {
  const own = lengths(body);
  if (own.most < least || (most !== null && own.least > most))
    throw impossible(
      place,
      `its texts have ${own.least} to ${own.most} characters, and ${least} to ${most ?? "any number"} are wanted`,
    );
  if (own.least < least || (most !== null && own.most > most))
    throw unsupported(
      place,
      "a length beside a pattern whose texts may be shorter or longer",
      "Put the length into the pattern, as in ^.{2,8}$.",
    );
  return jsonString(insideString(body));
}

function wholeMatch(source: string): Expression {
  return choice(...parseRegex(source).map(({ body }) => body));
}

function length(value: unknown, place: string): number | null {
  if (value === undefined) return null;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0)
    throw invalid(place, "a whole number, 0 or more, is expected");
  return value;
}

export function numberOf(given: Schema, integer: boolean, place: string): Expression {
  const bound = (key: string): number | null => {
    const value = given[key];
    if (value === undefined) return null;
    if (typeof value !== "number" || !Number.isFinite(value)) throw invalid(child(place, key), "a number is expected");
    return value;
  };
  if (given.multipleOf !== undefined && !(integer && given.multipleOf === 1))
    throw unsupported(child(place, "multipleOf"), '"multipleOf"');
  const minimum = bound("minimum");
  const maximum = bound("maximum");
  const above = bound("exclusiveMinimum");
  const below = bound("exclusiveMaximum");
  if (minimum === null && maximum === null && above === null && below === null)
    return rule(integer ? "json_integer" : "json_number");
  const scales = [minimum, maximum, above, below].map((value) => (value === null ? 0 : decimalOf(value).scale));
  const fine = Math.max(...scales) + 2;
  const from = inner(minimum, above, 1, integer, fine);
  const to = inner(maximum, below, -1, integer, fine);
  const found = integer ? integersWithin({ from, to }) : numbersWithin({ from, to });
  if (found === nothing || (found.kind === "choice" && found.parts.every((part) => part === nothing))) {
    const key =
      maximum !== null
        ? "maximum"
        : below !== null
          ? "exclusiveMaximum"
          : minimum !== null
            ? "minimum"
            : "exclusiveMinimum";
    throw impossible(child(place, key), "no number lies within the bounds");
  }
  return found;
}

/** The tighter of both bounds. What is excluded moves inwards: by one for whole numbers, else by a unit of the place `fine`. */
function inner(
  included: number | null,
  excluded: number | null,
  sign: 1 | -1,
  integer: boolean,
  fine: number,
): Decimal | null {
  if (excluded === null || (included !== null && sign * included > sign * excluded)) {
    return included === null ? null : decimalOf(included);
  }
  const { mantissa, scale } = decimalOf(excluded);
  const step = BigInt(sign);
  if (integer) return scale === 0 ? { mantissa: mantissa + step, scale } : { mantissa, scale };
  return { mantissa: mantissa * 10n ** BigInt(fine - scale) + step, scale: fine };
}

/** Whether a fixed value agrees with what stands beside it. */
export const literal = {
  fits(value: unknown, given: Schema, types: readonly string[], place: string): boolean {
    for (const key of [
      "properties",
      "required",
      "additionalProperties",
      "items",
      "prefixItems",
      "additionalItems",
      "uniqueItems",
      "minItems",
      "maxItems",
      "minProperties",
      "maxProperties",
      "format",
      "multipleOf",
    ]) {
      if (given[key] !== undefined) throw unsupported(child(place, key), `"${key}" beside fixed values`);
    }
    const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
    if (!types.includes(type) && !(types.includes("integer") && typeof value === "number" && Number.isInteger(value)))
      return false;
    if (typeof value === "number") {
      const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = given as Record<string, number | undefined>;
      return (
        value >= (minimum ?? -Infinity) &&
        value <= (maximum ?? Infinity) &&
        value > (exclusiveMinimum ?? -Infinity) &&
        value < (exclusiveMaximum ?? Infinity)
      );
    }
    if (typeof value === "string") {
      const points = [...value].length;
      if (
        points < ((given.minLength as number | undefined) ?? 0) ||
        points > ((given.maxLength as number | undefined) ?? Infinity)
      )
        return false;
      if (typeof given.pattern !== "string") return true;
      try {
        return new RegExp(given.pattern, "u").test(value);
      } catch (error) {
        throw invalid(child(place, "pattern"), String((error as Error).message));
      }
    }
    return true;
  },
};
