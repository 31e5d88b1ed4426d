/** A last line on standard error that overwrites itself, and goes before anything else is written. */
import type { Io } from "./command.ts";

export interface StatusIo extends Io {
  /** Shown in place of the last one; nothing where no terminal is. */
  status(line: string): void;
  clear(): void;
}

export function withStatusLine(io: Io): StatusIo {
  let shown = 0;
  const clear = () => {
    if (shown > 0) io.err(`\r${" ".repeat(shown)}\r`);
    shown = 0;
  };
  const behind = (write: (text: string) => void) => (text: string) => {
    clear();
    write(text);
  };
  return {
    ...io,
    out: behind(io.out),
    err: behind(io.err),
    clear,
    status(line) {
      if (!io.terminal) return;
      clear();
      io.err(line);
      shown = line.length;
    },
  };
}
