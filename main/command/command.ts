/** What one command of `halogen` is made of. The command line itself (line.ts) parses, prints errors and sets the exit code. */
import type { Readable } from "node:stream";
import type { ParseArgsOptionsConfig } from "node:util";
import { HalogenError } from "../../app/error.ts";
import type { Environment, EnvironmentVariables } from "../setting/environment.ts";

export interface Io {
  stdin: Readable & { isTTY?: boolean };
  /** Results only, so that they can be piped. */
  out(text: string): void;
  /** Progress, notices and errors. */
  err(text: string): void;
  /** Progress that overwrites itself makes sense. */
  terminal: boolean;
}

export interface CommandContext {
  io: Io;
  environment: Environment;
  variables: EnvironmentVariables;
  version: string;
  /** Options by long name, as parseArgs gives them. */
  values: Record<string, string | boolean | (string | boolean)[] | undefined>;
  positionals: string[];
  /** Aborted by the first Ctrl-C (or SIGTERM); the second one ends the process at once. */
  signal: AbortSignal;
}

export interface Command {
  name: string;
  summary: string;
  /** What stands after "halogen <name>". */
  usage: string;
  options: ParseArgsOptionsConfig;
  /** One line each, for --help. */
  help: [option: string, meaning: string][];
  /** Most arguments that are no options. */
  positionals: number;
  /** The exit code. */
  run(context: CommandContext): Promise<number>;
}

/** Exit codes: 0 done, 1 failed, 2 wrong usage, 130 ended by Ctrl-C. */
export const exitCode = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** The command line was wrong: line.ts adds the usage and ends with 2. */
export class UsageError extends HalogenError {
  constructor(message: string) {
    super("request.invalid", message);
  }
}

/** A number option, or undefined when it was not given. `to` and `from` are allowed themselves. */
export function numberOption(
  { values }: CommandContext,
  name: string,
  range: { from: number; to: number; integer?: boolean },
): number | undefined {
  const value = values[name];
  if (value === undefined) return undefined;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
  const ok = number >= range.from && number <= range.to && (range.integer !== true || Number.isInteger(number));
  if (ok) return number;
  const kind = range.integer === true ? "a whole number" : "a number";
  throw new UsageError(`--${name} must be ${kind} from ${range.from} to ${range.to}, not "${String(value)}".`);
}

export function stringOption({ values }: CommandContext, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}
