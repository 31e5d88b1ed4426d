/** The Jinja package's own values. It exports no classes of them; these are made as it makes its own. */
import { Environment } from "@huggingface/jinja";

export type Value = ReturnType<Environment["lookupVariable"]>;
type Class<T> = new (value: T) => Value;

const samples = new Environment();
const sample = (value: unknown): Value => {
  samples.variables.delete("sample");
  samples.set("sample", value);
  return samples.lookupVariable("sample");
};
const classOf = (value: unknown): unknown => sample(value).constructor;
const Text = classOf("") as Class<string>;
const List = classOf([]) as Class<Value[]>;
const Whole = classOf(0) as Class<number>;
const Float = classOf(0.5) as Class<number>;
const Callable = classOf(() => null) as Class<(told: Value[]) => Value>;
const Mapping = classOf({}) as Class<Map<string, Value>>;
const [yes, no] = [sample(true), sample(false)];

export const absent: Value = samples.lookupVariable("nothing of this name");
export const truth = (value: boolean): Value => (value ? yes : no);
export const textOf = (value: string): Value => new Text(value);
export const listOf = (values: Value[]): Value => new List(values);
export const wholeOf = (value: number): Value => new Whole(value);
export const floatOf = (value: number): Value => new Float(value);
export const mappingOf = (entries: [string, Value][]): Value => new Mapping(new Map(entries));
export const callable = (call: (told: Value[]) => Value): Value => new Callable(call);

/** As `if` takes it. */
export const isTrue = (value: Value): boolean => value.__bool__().value;
export const isList = ({ type }: Value): boolean => type === "ArrayValue" || type === "TupleValue";
export const isMapping = ({ type }: Value): boolean => type === "ObjectValue" || type === "KeywordArgumentsValue";

/** Items: of a list its own, of a mapping its keys, of a text its characters; none of what is undefined. */
export function itemsOf({ type, value }: Value): Value[] {
  if (Array.isArray(value)) return value as Value[];
  if (value instanceof Map && type !== "NamespaceValue") return [...value.keys()].map((key) => textOf(String(key)));
  if (typeof value === "string") return Array.from(value, textOf);
  if (type === "UndefinedValue") return [];
  throw new Error(`what is of the kind ${type} has no items`);
}
