/** What an engine process is told on its command line: one JSON argument, the last. */
export interface ChildArgument {
  /** A module that exports `createEngine(options): Engine | Promise<Engine>`; null = the native engine. Absolute path. */
  module: string | null;
  /** JSON; for the native engine its NativeEngineOptions. */
  options: Record<string, unknown>;
}

export function writeChildArgument(argument: ChildArgument): string {
  return JSON.stringify(argument);
}

export function readChildArgument(text: string | undefined): ChildArgument {
  const value: unknown = text === undefined ? null : JSON.parse(text);
  if (typeof value !== "object" || value === null || !("module" in value) || !("options" in value)) {
    throw new TypeError(`an engine process takes one JSON argument {module, options}, not ${text ?? "none"}`);
  }
  return value as ChildArgument;
}
