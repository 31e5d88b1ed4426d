/** SQLite's result codes as Halogen's errors, with what the user can do about each. */
import { type ErrorCode, HalogenError } from "../../app/error.ts";

interface Fault {
  prefix: string;
  code: ErrorCode;
  message: string;
  hint: string;
}

const faults: Fault[] = [
  {
    prefix: "SQLITE_FULL",
    code: "store.disk_full",
    message: "The disk that holds your chats is full; the last change could not be saved",
    hint: "Free some space, then try again. What was saved before is intact.",
  },
  {
    prefix: "SQLITE_BUSY",
    code: "store.locked",
    message: "Another Halogen has your chats open",
    hint: "Close the other window or server that uses the same data folder, or give this one its own with HALOGEN_DATA.",
  },
  {
    prefix: "SQLITE_LOCKED",
    code: "store.locked",
    message: "The chat database is in use",
    hint: "Try again in a moment.",
  },
  {
    prefix: "SQLITE_CORRUPT",
    code: "store.corrupt",
    message: "The chat database is damaged",
    hint: "Move the file away to start afresh, or put one of the .backup files beside it in its place.",
  },
  {
    prefix: "SQLITE_NOTADB",
    code: "store.corrupt",
    message: "The chat database is not a database",
    hint: "Move the file away to start afresh, or put one of the .backup files beside it in its place.",
  },
  {
    prefix: "SQLITE_READONLY",
    code: "store.unavailable",
    message: "The chat database cannot be written",
    hint: "Check that the data folder and its files belong to you and are writable.",
  },
  {
    prefix: "SQLITE_",
    code: "store.unavailable",
    message: "The chat database cannot be used",
    hint: "Check that the data folder exists, is writable and lies on a working disk.",
  },
];

function sqliteCode(error: unknown): string | null {
  if (!(error instanceof Error) || error.name !== "SqliteError") return null;
  const code: unknown = Reflect.get(error, "code");
  return typeof code === "string" ? code : null;
}

/** A HalogenError for anything that better-sqlite3 throws; other errors come back as they are. */
export function translate(error: unknown, path: string): unknown {
  const code = sqliteCode(error);
  if (code === null) return error;
  // A violated constraint is a fault of ours, not of the disk: it keeps its words and becomes `internal` at the wire.
  if (code.startsWith("SQLITE_CONSTRAINT") || code === "SQLITE_ERROR" || code === "SQLITE_MISUSE") return error;
  const fault = faults.find((entry) => code.startsWith(entry.prefix));
  if (fault === undefined) return error;
  return new HalogenError(fault.code, `${fault.message} (${path})`, {
    hint: fault.hint,
    detail: { path, sqlite: code, reason: error instanceof Error ? error.message : "" },
    cause: error,
  });
}

export function attempt<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw translate(error, path);
  }
}

/** The same functions, each throwing HalogenErrors instead of SQLite's; `after` runs when one has succeeded. */
export function guard<T extends object>(path: string, methods: T, after: () => void = () => {}): T {
  const guarded: Record<string, unknown> = {};
  for (const [name, method] of Object.entries(methods)) {
    if (typeof method !== "function") throw new TypeError(`${name} is no function`);
    guarded[name] = (...parameters: unknown[]) => {
      const result: unknown = attempt(path, () => method(...parameters));
      after();
      return result;
    };
  }
  return guarded as T;
}
