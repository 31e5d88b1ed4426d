/**
 * Runs a parsed template: the Jinja package's interpreter, but for loops and conditions, which go as in Jinja itself. There each round of a loop has
 * names of its own, what was printed before a `continue` or `break` stays, and `else` comes where no round came to its end.
 */
import { Environment, Interpreter, type parse } from "@huggingface/jinja";
import { absent, isTrue, itemsOf, mappingOf, textOf, truth, type Value, wholeOf } from "./value.ts";

export type Program = ReturnType<typeof parse>;

/** Of a parsed template. */
export interface Node {
  type: string;
  [key: string]: unknown;
}

/** A template that takes longer than this, in milliseconds, is taken for one that never ends. */
const patience = 3000;

/** Characters and items that a value may have: far more than any conversation, and far less than the memory holds. */
const longestText = 100_000_000;
const longestList = 10_000_000;

type Statement = Parameters<Interpreter["evaluate"]>[0];
/** What ends a round of the loop around it, and what ends the loop; the package exports neither of its classes for them. */
type Ending = "continue" | "break" | null;

/** Templates come with files from anywhere: one that loops for ever, or doubles a value again and again, must not take the app with it. */
export class WatchedInterpreter extends Interpreter {
  private readonly start = performance.now();
  private steps = 0;
  private readonly naming = new WeakMap<Node, boolean>();
  /** Characters in all blocks together; what is printed in a block that is set to a name counts there too. */
  private printed = 0;

  override evaluate(...[statement, environment]: Parameters<Interpreter["evaluate"]>): Value {
    if ((++this.steps & 255) === 0) this.watch();
    const node = statement as unknown as Node | undefined;
    if (node?.type === "For" || node?.type === "If") {
      const out: string[] = [];
      const ending = this.statement(node, environment, out);
      if (ending !== null) throw new Error(`"${ending}" stands outside of a loop`);
      return textOf(out.join(""));
    }
    const result = super.evaluate(statement, environment);
    const { value } = result as { value?: unknown };
    if (typeof value === "string" && value.length > longestText) tooLong();
    if (Array.isArray(value) && value.length > longestList)
      throw new Error(`it made a list of more than ${longestList} items`);
    return result;
  }

  override run(program: Program): Value {
    const out: string[] = [];
    const ending = this.block(program.body as unknown as Node[], this.global, out);
    if (ending !== null) throw new Error(`"${ending}" stands outside of a loop`);
    return textOf(out.join(""));
  }

  private watch(): void {
    if (performance.now() - this.start > patience) throw new Error(`it did not end within ${patience / 1000} seconds`);
  }

  /** Prints into `out`; stops where a round or a loop ends. */
  private block(statements: readonly Node[], environment: Environment, out: string[]): Ending {
    for (const each of statements) {
      const ending = this.statement(each, environment, out);
      if (ending !== null) return ending;
    }
    return null;
  }

  private statement(node: Node, environment: Environment, out: string[]): Ending {
    if (node.type === "Break") return "break";
    if (node.type === "Continue") return "continue";
    if (node.type === "For") return this.loop(node, environment, out);
    if (node.type === "If") {
      const holds = isTrue(this.evaluate(node.test as Statement, environment));
      return this.block((holds ? node.body : node.alternate) as Node[], environment, out);
    }
    const value = this.evaluate(node as unknown as Statement, environment);
    if (value.type === "NullValue" || value.type === "UndefinedValue") return null;
    this.print(value.toString(), out);
    return null;
  }

  private print(text: string, out: string[]): void {
    if (text !== "") out.push(text);
    this.printed += text.length;
    if (this.printed > longestText) tooLong();
  }

  private loop(node: Node, environment: Environment, out: string[]): Ending {
    this.watch();
    const source = node.iterable as Node;
    const filtered = source.type === "SelectExpression";
    const names = namesOf(node.loopvar as Node);
    let items = itemsOf(this.evaluate((filtered ? source.lhs : source) as Statement, environment));
    if (filtered) {
      items = items.filter((item) => {
        const scope = new Environment(environment);
        bind(scope, names, item);
        return isTrue(this.evaluate(source.test as Statement, scope));
      });
    }
    const named = this.namesLoop(node);
    let whole = false;
    for (let index = 0; index < items.length; index++) {
      if ((++this.steps & 255) === 0) this.watch();
      const scope = new Environment(environment);
      if (named) scope.setVariable("loop", roundOf(items, index));
      bind(scope, names, items[index] as Value);
      const ending = this.block(node.body as Node[], scope, out);
      if (ending === "break") break;
      whole ||= ending === null;
    }
    return whole ? null : this.block((node.defaultBlock ?? []) as Node[], environment, out);
  }

  /** Whether anything in a loop asks for `loop`: to say what it is takes longer than most rounds. */
  private namesLoop(node: Node): boolean {
    const known = this.naming.get(node);
    if (known !== undefined) return known;
    const found = mentions(node.body, "loop");
    this.naming.set(node, found);
    return found;
  }
}

function tooLong(): never {
  throw new Error(`it made a text of more than ${longestText} characters`);
}

function namesOf(target: Node): { one: string } | { several: string[] } {
  if (target.type === "Identifier") return { one: String(target.value) };
  const parts = target.type === "TupleLiteral" ? (target.value as Node[]) : [];
  if (parts.length === 0 || parts.some(({ type }) => type !== "Identifier"))
    throw new Error(`a loop cannot name its items by ${target.type}`);
  return { several: parts.map(({ value }) => String(value)) };
}

function bind(scope: Environment, names: ReturnType<typeof namesOf>, item: Value): void {
  if ("one" in names) {
    scope.setVariable(names.one, item);
    return;
  }
  const parts = itemsOf(item);
  if (parts.length !== names.several.length)
    throw new Error(`${parts.length} items cannot be given to ${names.several.length} names`);
  for (const [index, name] of names.several.entries()) scope.setVariable(name, parts[index] as Value);
}

function roundOf(items: readonly Value[], index: number): Value {
  const { length } = items;
  return mappingOf([
    ["index", wholeOf(index + 1)],
    ["index0", wholeOf(index)],
    ["revindex", wholeOf(length - index)],
    ["revindex0", wholeOf(length - index - 1)],
    ["first", truth(index === 0)],
    ["last", truth(index === length - 1)],
    ["length", wholeOf(length)],
    ["previtem", items[index - 1] ?? absent],
    ["nextitem", items[index + 1] ?? absent],
  ]);
}

function mentions(value: unknown, name: string): boolean {
  if (Array.isArray(value)) return value.some((each) => mentions(each, name));
  if (value instanceof Map) return [...value].some(([key, each]) => mentions(key, name) || mentions(each, name));
  if (typeof value !== "object" || value === null) return false;
  const node = value as Node;
  if (node.type === "Identifier" && node.value === name) return true;
  return Object.values(node).some((each) => mentions(each, name));
}
