/**
 * Python's operators and printing over the Jinja package's own values, where that package has JavaScript's: what is equal, what is contained,
 * what joins to a text, and how a value prints (`True`, not `true`). `jinja.ts` puts calls of these into parsed templates.
 */
import type { Environment } from "@huggingface/jinja";
import { pythonText } from "./python.ts";
import { callable, isList, isMapping, textOf, truth, type Value } from "./value.ts";

const numeric: ReadonlySet<string> = new Set(["IntegerValue", "FloatValue", "BooleanValue"]);

/** a == b: of texts, of numbers and truths, of nothing, and of lists and mappings by what is in them. */
export function equal(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (numeric.has(a.type) && numeric.has(b.type)) return Number(a.value) === Number(b.value);
  if (isList(a) && isList(b)) {
    const [left, right] = [a.value as Value[], b.value as Value[]];
    return left.length === right.length && left.every((each, index) => equal(each, right[index] as Value));
  }
  if (isMapping(a) && isMapping(b)) {
    const [left, right] = [a.value as Map<string, Value>, b.value as Map<string, Value>];
    return (
      left.size === right.size &&
      [...left].every(([key, each]) => {
        const other = right.get(key);
        return other !== undefined && equal(each, other);
      })
    );
  }
  return a.type === b.type && a.value === b.value;
}

/** item in whole: nothing is in what is undefined. */
export function contains(item: Value, whole: Value): boolean {
  if (whole.type === "UndefinedValue") return false;
  if (isList(whole)) return (whole.value as Value[]).some((each) => equal(each, item));
  if (isMapping(whole))
    return item.type === "StringValue" && (whole.value as Map<string, Value>).has(item.value as string);
  if (whole.type === "StringValue" && item.type === "StringValue")
    return (whole.value as string).includes(item.value as string);
  throw new Error(`it cannot be asked whether ${printed(item)} is in ${printed(whole)}`);
}

/** str(value), and nothing for what is undefined. */
export function printed(value: Value): string {
  if (value.type === "UndefinedValue") return "";
  return value.type === "NullValue" ? "None" : pythonText(value.value === undefined ? undefined : plainOr(value));
}

/** A float keeps its type, which tells how it prints. */
function plainOr(value: Value): unknown {
  return value.type === "FloatValue" ? value : value.value;
}

function show(value: Value): Value {
  return value.type === "StringValue" ? value : textOf(printed(value));
}

type Operation = (left: Value, right: Value) => Value;

/** By operator, the names of the functions that do it. */
export const operatorNames: ReadonlyMap<string, string> = new Map([
  ["==", "__equal"],
  ["!=", "__unequal"],
  ["in", "__in"],
  ["not in", "__out"],
  ["~", "__join"],
]);

const operations: Readonly<Record<string, Operation>> = {
  __equal: (left, right) => truth(equal(left, right)),
  __unequal: (left, right) => truth(!equal(left, right)),
  __in: (left, right) => truth(contains(left, right)),
  __out: (left, right) => truth(!contains(left, right)),
  __join: (left, right) => textOf(printed(left) + printed(right)),
};

/** Gives a template's environment the functions that its parsed form calls. */
export function addOperators(environment: Environment): void {
  for (const [name, operation] of Object.entries(operations)) {
    environment.setVariable(
      name,
      callable(([left, right]) => operation(left as Value, right as Value)),
    );
  }
  environment.setVariable(
    "__show",
    callable(([value]) => show(value as Value)),
  );
}
