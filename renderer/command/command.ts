import { type KeyPress, matches } from "../logic/key.ts";
import { type Page, report } from "../store/page.ts";

/** Something the user can do: from a button, a shortcut or (later) the palette. */
export interface Command {
  id: string;
  label: string;
  /** Shortcuts as in logic/key.ts, the first one is shown. */
  keys: readonly string[];
  enabled(page: Page): boolean;
  run(page: Page): void | Promise<void>;
}

/** Runs what may fail, and shows the failure where nothing else does. */
export function attempt(page: Page, action: () => void | Promise<void>): void {
  try {
    Promise.resolve(action()).catch((error: unknown) => report(page, error));
  } catch (error) {
    report(page, error);
  }
}

/** True when a command took the key. */
export function dispatch(page: Page, commands: readonly Command[], press: KeyPress): boolean {
  const command = commands.find(
    (candidate) => candidate.keys.some((key) => matches(key, press, page.mac)) && candidate.enabled(page),
  );
  if (!command) return false;
  attempt(page, () => command.run(page));
  return true;
}
