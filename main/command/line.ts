/** `halogen <command>`: finds the command, parses its options, prints what went wrong in words, and sets the exit code. */
import { homedir } from "node:os";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { HalogenError, toWire } from "../../app/error.ts";
import { findInstallation, readVersion } from "../installation.ts";
import { type EnvironmentVariables, readEnvironment } from "../setting/environment.ts";
import { type Command, exitCode, type Io, UsageError } from "./command.ts";
import { commands } from "./list.ts";

const version = readVersion(findInstallation());

const common: ParseArgsOptionsConfig = {
  help: { type: "boolean", short: "h" },
  debug: { type: "boolean" },
};

export interface CliOptions {
  arguments: string[];
  variables: EnvironmentVariables;
  io: Io;
  signal: AbortSignal;
}

/** The exit code. Never rejects. */
export async function runCli({ arguments: words, variables, io, signal }: CliOptions): Promise<number> {
  const [name = "", ...rest] = words;
  const debug = words.includes("--debug");
  if (name === "" || name === "help" || name === "--help" || name === "-h") {
    (name === "" ? io.err : io.out)(overview());
    return name === "" ? exitCode.usage : exitCode.done;
  }
  if (name === "--version" || name === "-v") {
    io.out(`halogen ${version}\n`);
    return exitCode.done;
  }
  const command = commands.find((each) => each.name === name);
  if (command === undefined) {
    io.err(`halogen: there is no command "${name}".\n\n${overview()}`);
    return exitCode.usage;
  }
  try {
    const { values, positionals } = parse(command, rest);
    if (values.help === true) {
      io.out(helpOf(command));
      return exitCode.done;
    }
    const environment = readEnvironment(variables, process.platform, homedir());
    return await command.run({ io, environment, variables, version, values, positionals, signal });
  } catch (error) {
    io.err(describe(error, debug));
    if (error instanceof UsageError) io.err(`\n${usageOf(command)}"halogen ${command.name} --help" tells more.\n`);
    return error instanceof UsageError ? exitCode.usage : signal.aborted ? exitCode.interrupted : exitCode.failed;
  }
}

function parse(command: Command, words: string[]) {
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({
      args: words,
      options: { ...common, ...command.options },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    // Node's messages name the option; the rest of them explains its own API.
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${message.split(". To specify")[0] ?? message}.`.replace(/\.\.$/, "."));
  }
  if (parsed.positionals.length > command.positionals) {
    const extra = parsed.positionals[command.positionals] ?? "";
    throw new UsageError(`There is one argument too many: "${extra}". Put a prompt of several words in quotes.`);
  }
  return parsed;
}

export function describe(error: unknown, debug: boolean): string {
  const { code, message, hint } = toWire(error);
  const lines = [`halogen: ${message} [${code}]`];
  if (hint !== "") lines.push(`  ${hint}`);
  if (debug && error instanceof Error) {
    lines.push(error.stack ?? "");
    if (error.cause instanceof Error) lines.push(`caused by: ${error.cause.stack ?? error.cause.message}`);
  } else if (!(error instanceof HalogenError)) {
    lines.push("  This is a fault of Halogen: run it again with --debug and report what it prints.");
  }
  return `${lines.join("\n")}\n`;
}

function overview(): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  const rows = commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}\n`).join("");
  return `Usage: halogen <command> [options]\n\n${rows}\n"halogen <command> --help" tells more; "halogen --version" the version.\n`;
}

function usageOf({ name, usage }: Command): string {
  return `Usage: halogen ${name} ${usage}\n`;
}

function helpOf(command: Command): string {
  const rows: [string, string][] = [...command.help, ["--debug", "print stacks with errors"]];
  const width = Math.max(...rows.map(([option]) => option.length));
  const lines = rows.map(([option, meaning]) => `  ${option.padEnd(width)}  ${meaning}\n`).join("");
  return `${usageOf(command)}\n${command.summary}.\n\n${lines}`;
}
