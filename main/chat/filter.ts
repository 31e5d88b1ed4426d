/** Jinja's filters of lists, over the Jinja package's own values, where that package knows only some of what they may be asked. */
import { Environment } from "@huggingface/jinja";
import { contains, equal, printed } from "./operator.ts";
import { strip } from "./python.ts";
import { absent, callable, floatOf, isTrue, itemsOf, listOf, textOf, type Value, wholeOf } from "./value.ts";

type Test = (value: Value, ...told: Value[]) => boolean;

/** Templates name what they want: "constructor" is none of it. */
const mapOf = <T>(named: Record<string, T>): ReadonlyMap<string, T> => new Map(Object.entries(named));

const compared =
  (holds: (a: number | string, b: number | string) => boolean): Test =>
  (value, other) => {
    const [a, b] = [value.value, other?.value];
    if (typeof a !== typeof b || (typeof a !== "number" && typeof a !== "string"))
      throw new Error(`${printed(value)} and ${other === undefined ? "nothing" : printed(other)} have no order`);
    return holds(a, b as typeof a);
  };

/** Beside those that the package has. */
const tests: ReadonlyMap<string, Test> = mapOf({
  eq: (value, other) => other !== undefined && equal(value, other),
  ne: (value, other) => other === undefined || !equal(value, other),
  gt: compared((a, b) => a > b),
  ge: compared((a, b) => a >= b),
  lt: compared((a, b) => a < b),
  le: compared((a, b) => a <= b),
  in: (value, list) => list !== undefined && contains(value, list),
  divisibleby: (value, by) => Number(value.value) % Number(by?.value) === 0,
  float: ({ type }) => type === "FloatValue",
});
const otherNames: ReadonlyMap<string, string> = mapOf({
  equalto: "eq",
  "==": "eq",
  "!=": "ne",
  greaterthan: "gt",
  ">": "gt",
  ">=": "ge",
  lessthan: "lt",
  "<": "lt",
  "<=": "le",
});
const { tests: packageTests } = new Environment();

function testNamed(name: Value | undefined): Test {
  if (name === undefined) return isTrue;
  const called = String(name.value);
  const test = tests.get(otherNames.get(called) ?? called) ?? packageTests.get(called);
  if (test === undefined) throw new Error(`there is no test "${called}"`);
  return test as Test;
}

function attributeOf(item: Value, path: string): Value {
  let value = item;
  for (const part of path.split(".")) {
    const inside = value.value;
    const found = inside instanceof Map ? inside.get(part) : Array.isArray(inside) ? inside[Number(part)] : undefined;
    if (found === undefined) return absent;
    value = found as Value;
  }
  return value;
}

/** Arguments in their places and by name, as the package hands them. */
function parted(told: readonly Value[]): { placed: Value[]; named: Map<string, Value> } {
  const last = told[told.length - 1];
  return last?.type === "KeywordArgumentsValue"
    ? { placed: told.slice(0, -1), named: last.value as Map<string, Value> }
    : { placed: [...told], named: new Map() };
}

/** Jinja's own take None as empty too. */
const orNothing = (value: Value | undefined): Value =>
  value === undefined || value.type === "NullValue" ? absent : value;

/** Filters that map() may name. */
const mappers: ReadonlyMap<string, (item: Value) => Value> = mapOf({
  string: (item) => textOf(printed(item)),
  trim: (item) => textOf(strip(printed(item), "both")),
  upper: (item) => textOf(printed(item).toUpperCase()),
  lower: (item) => textOf(printed(item).toLowerCase()),
  length: (item) => wholeOf(itemsOf(item).length),
  first: (item) => itemsOf(item)[0] ?? absent,
});

function picked(keeps: boolean, byAttribute: boolean) {
  return ([list, ...told]: Value[]): Value => {
    const { placed } = parted(told);
    const path = byAttribute ? placed.shift() : undefined;
    const [name, ...others] = placed;
    const test = testNamed(name);
    const items = itemsOf(orNothing(list));
    return listOf(
      items.filter((item) => {
        const value = path === undefined ? item : attributeOf(item, String(path.value));
        return test(value, ...others) === keeps;
      }),
    );
  };
}

function mapped([list, ...told]: Value[]): Value {
  const { placed, named } = parted(told);
  const items = itemsOf(orNothing(list));
  const attribute = named.get("attribute");
  if (attribute !== undefined) {
    const fallback = named.get("default");
    return listOf(
      items.map((item) => {
        const value = attributeOf(item, String(attribute.value));
        return value.type === "UndefinedValue" && fallback !== undefined ? fallback : value;
      }),
    );
  }
  const name = String(placed[0]?.value);
  const mapper = mappers.get(name);
  if (mapper === undefined) throw new Error(`map() knows no filter "${name}"`);
  return listOf(items.map(mapper));
}

function summed([list, ...told]: Value[]): Value {
  const { placed, named } = parted(told);
  const attribute = placed[0] ?? named.get("attribute");
  const start = placed[1] ?? named.get("start");
  const values = itemsOf(list ?? absent).map((item) =>
    attribute === undefined ? item : attributeOf(item, String(attribute.value)),
  );
  const all = start === undefined ? values : [start, ...values];
  if (all.some(({ value }) => typeof value !== "number")) throw new Error("sum() of what is no number");
  const total = all.reduce((sum, { value }) => sum + (value as number), 0);
  return all.some(({ type }) => type === "FloatValue") ? floatOf(total) : wholeOf(total);
}

/** By filter; each is given the value first. */
const listFilters: Readonly<Record<string, (told: Value[]) => Value>> = {
  __select: picked(true, false),
  __reject: picked(false, false),
  __selectattr: picked(true, true),
  __rejectattr: picked(false, true),
  __map: mapped,
  __sum: summed,
  // A list of its own: what is done to it leaves the one it was made of as it is.
  __list: ([value]) => listOf([...itemsOf(value ?? absent)]),
  __first: ([value]) => itemsOf(value ?? absent)[0] ?? absent,
  __last: ([value]) => {
    const items = itemsOf(value ?? absent);
    return items[items.length - 1] ?? absent;
  },
  __reverse: ([value]) => {
    const turned = [...itemsOf(value ?? absent)].reverse();
    return typeof value?.value === "string" ? textOf(turned.map(printed).join("")) : listOf(turned);
  },
};

export const listFilterNames: readonly string[] = Object.keys(listFilters).map((name) => name.slice(2));

/** Gives a template's environment the functions that its parsed form calls. */
export function addListFilters(environment: Environment): void {
  for (const [name, filter] of Object.entries(listFilters)) environment.setVariable(name, callable(filter));
}
