/**
 * Jinja as the models' templates use it, over `@huggingface/jinja`. Where that package is stricter than Jinja itself, or differs, the parsed
 * template is changed: an undefined (for some filters also an empty) value is an empty list to loops and list filters, and what hangs on
 * Python's types is done by `python.ts` and `operator.ts`.
 */
import { type Environment, parse, tokenize } from "@huggingface/jinja";
import { addListFilters, listFilterNames } from "./filter.ts";
import { type Node, type Program, WatchedInterpreter } from "./interpreter.ts";
import { addOperators, operatorNames } from "./operator.ts";
import { textMethodNames } from "./text-method.ts";

export type { Program } from "./interpreter.ts";

/** These take what is undefined as empty. */
const lenient: ReadonlySet<string> = new Set(["length", "join"]);

/** Filters and methods of texts, each with the function that does it and what it is told before its own arguments. */
const filters = new Map([
  ["trim", "__trim"],
  ["string", "__string"],
  ["capitalize", "__capitalize"],
  ...listFilterNames.map((name): [string, string] => [name, `__${name}`]),
  ["min", "__min"],
  ["max", "__max"],
]);
const methods = new Map<string, [string, string | null]>([
  ["strip", ["__strip", "both"]],
  ["lstrip", ["__strip", "left"]],
  ["rstrip", ["__strip", "right"]],
  ["format", ["__format", null]],
  ...textMethodNames.map((name): [string, [string, string]] => [name, ["__method", name]]),
]);

/** As it is written. Throws what the parser throws. */
export function parseAsWritten(source: string): Program {
  return parse(withoutComparingTests(tokenize(source, { trim_blocks: true, lstrip_blocks: true })));
}

/** Tests that take something to compare with, which the package cannot read, and the operators that do the same. */
const comparingTests: ReadonlyMap<string, readonly [holds: string, not: string]> = new Map([
  ["in", ["in", "not in"]],
  ["eq", ["==", "!="]],
  ["equalto", ["==", "!="]],
  ["sameas", ["==", "!="]],
  ["ne", ["!=", "=="]],
  ["gt", [">", "<="]],
  ["greaterthan", [">", "<="]],
  ["ge", [">=", "<"]],
  ["lt", ["<", ">="]],
  ["lessthan", ["<", ">="]],
  ["le", ["<=", ">"]],
]);

type Token = ReturnType<typeof tokenize>[number];

function withoutComparingTests(tokens: readonly Token[]): Token[] {
  const told: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token;
    const turned = tokens[at + 1]?.type === "Identifier" && tokens[at + 1]?.value === "not";
    const name = tokens[at + (turned ? 2 : 1)];
    const operators = name?.type === "Identifier" ? comparingTests.get(name.value) : undefined;
    // "x.is" is the member of a mapping.
    if (
      token.type !== "Identifier" ||
      token.value !== "is" ||
      operators === undefined ||
      told[told.length - 1]?.type === "Dot"
    ) {
      told.push(token);
      continue;
    }
    told.push(...operatorTokens(operators[turned ? 1 : 0]));
    at += turned ? 2 : 1;
  }
  return told;
}

/** As the package reads it between two names. */
function operatorTokens(operator: string): Token[] {
  return tokenize(`{{ a ${operator} b }}`).slice(2, -2);
}

/** To be run. Throws what the parser throws. */
export function parseTemplate(source: string): Program {
  const program = parseAsWritten(source);
  visit(program as unknown as Node, new Map());
  return program;
}

/** Pairs of the mappings with numbers as keys, by the name they were set to. */
type Numbered = Map<string, [Node, Node][]>;

/** Throws what the interpreter throws. */
export function runTemplate(program: Program, environment: Environment): string {
  addOperators(environment);
  addListFilters(environment);
  return new WatchedInterpreter(environment).run(program).value as string;
}

/** Where statements stand one after the other; an expression among them is printed. */
const blocks: ReadonlySet<string> = new Set(["body", "alternate", "defaultBlock"]);
const printing: ReadonlySet<string> = new Set([
  "Identifier",
  "MemberExpression",
  "CallExpression",
  "FilterExpression",
  "TestExpression",
  "BinaryExpression",
  "UnaryExpression",
  "Ternary",
  "SelectExpression",
  "ArrayLiteral",
  "ObjectLiteral",
]);

function prints(node: Node): boolean {
  return printing.has(node.type);
}

function visit(node: Node, numbered: Numbered): void {
  for (const [key, value] of Object.entries(node)) {
    if (Array.isArray(value)) {
      value.forEach((each, index) => {
        if (!isNode(each)) return;
        const made = changed(each, numbered);
        value[index] = blocks.has(key) && prints(made) ? call("__show", [made]) : made;
      });
    } else if (value instanceof Map) {
      // Keyword arguments and object literals.
      for (const [name, each] of value) if (isNode(each)) value.set(name, changed(each, numbered));
    } else if (isNode(value)) {
      const target = key === "loopvar" || key === "assignee";
      // Loops and `set` take no tuple apart, but lists; where a name is meant, the tuple stays one.
      if (target) visit(value, numbered);
      else node[key] = changed(value, numbered);
    }
  }
}

function changed(node: Node, numbered: Numbered): Node {
  visit(node, numbered);
  if (node.type === "Set") noteNumbered(node, numbered);
  if (node.type === "FilterExpression") {
    const name = filterName(rename(node.filter as Node));
    const pairs = name === "dictsort" ? numbered.get(String((node.operand as Node).value)) : undefined;
    if (pairs !== undefined) return listOf(pairs.map((pair) => listOf(pair)));
    const own = filters.get(name);
    if (own !== undefined) return call(own, [node.operand, ...argumentsOf(node.filter as Node)]);
    if (name === "safe") node.marked = true;
    if (lenient.has(name)) node.operand = orEmpty(node.operand);
  } else if (node.type === "CallExpression") {
    const callee = node.callee as Node;
    const property = callee.property as Node | undefined;
    const own = methods.get(String(property?.value));
    if (callee.type === "MemberExpression" && callee.computed !== true && own !== undefined) {
      const [name, side] = own;
      const told = side === null ? [] : [snippet(`{{ "${side}" }}`)];
      return call(name, [callee.object, ...told, ...(node.args as unknown[])]);
    }
  } else if (node.type === "BinaryExpression") {
    const name = operatorNames.get(String((node.operator as { value?: unknown }).value));
    if (name !== undefined) return call(name, [node.left, node.right]);
    escapeBeside(node);
  } else if (node.type === "TupleLiteral") return listOf(node.value as Node[]);
  return node;
}

/**
 * The package knows no mapping with numbers as keys. One that is set to a name gets texts as keys, and where it is walked through in order
 * (`dictsort`), its pairs stand with their numbers.
 */
function noteNumbered({ assignee, value }: Node, numbered: Numbered): void {
  const name = String((assignee as Node).value);
  numbered.delete(name);
  // A block that is set to a name has no value.
  const literal = value as Node | null;
  if (literal?.type !== "ObjectLiteral") return;
  const pairs = [...(literal.value as Map<Node, Node>)];
  if (pairs.length === 0 || !pairs.every(([key]) => key.type === "IntegerLiteral")) return;
  literal.value = new Map(pairs.map(([key, each]) => [snippet(`{{ "${String(key.value)}" }}`), each]));
  numbered.set(
    name,
    pairs.sort(([a], [b]) => Number(a.value) - Number(b.value)),
  );
}

/** `"…"|safe` is marked-up text: what is added to it (`+`, not `~`) gets escaped, as markupsafe does it, also without autoescape. */
function escapeBeside(node: Node): void {
  if ((node.operator as { value?: unknown }).value !== "+") return;
  const [left, right] = [node.left as Node, node.right as Node];
  if (left.marked !== true && right.marked !== true) return;
  if (left.marked !== true) node.left = call("__escape", [left]);
  if (right.marked !== true) node.right = call("__escape", [right]);
  node.marked = true;
}

function call(name: string, args: unknown[]): Node {
  const made = snippet(`{{ ${name}() }}`);
  made.args = args;
  return made;
}

function argumentsOf(filter: Node): unknown[] {
  return filter.type === "CallExpression" ? (filter.args as unknown[]) : [];
}

function listOf(items: Node[]): Node {
  const list = snippet("{{ [] }}");
  list.value = items;
  return list;
}

/** `operand | default([])`. */
function orEmpty(operand: unknown): Node {
  const filter = snippet("{{ x | default([]) }}");
  filter.operand = operand;
  return filter;
}

function snippet(source: string): Node {
  return parse(tokenize(source)).body[0] as unknown as Node;
}

const otherNames = new Map([
  ["count", "length"],
  ["d", "default"],
]);

/** Some filters have two names, of which the package knows one. */
function rename(filter: Node): Node {
  const named = filter.type === "CallExpression" ? (filter.callee as Node) : filter;
  named.value = otherNames.get(String(named.value)) ?? named.value;
  return filter;
}

function filterName(filter: Node): string {
  return String(filter.type === "CallExpression" ? (filter.callee as Node).value : filter.value);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}
