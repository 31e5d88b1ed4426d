/** The program `halogen`: the process around the command line of main/command/line.ts. */
import { exitCode } from "./command/command.ts";
import { runCli } from "./command/line.ts";

/** Ends with the given code once everything printed has left; the second interrupt ends at once. */
async function main(): Promise<void> {
  const abort = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (abort.signal.aborted) process.exit(exitCode.interrupted);
      abort.abort();
    });
  }
  // A closed pipe (halogen run … | head) is an end, not a fault.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    abort.abort();
  });
  process.exitCode = await runCli({
    arguments: process.argv.slice(2),
    variables: process.env,
    io: {
      stdin: process.stdin,
      out: (text) => void process.stdout.write(text),
      err: (text) => void process.stderr.write(text),
      terminal: process.stderr.isTTY === true,
    },
    signal: abort.signal,
  });
}

void main();
