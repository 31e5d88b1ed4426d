/** The user's settings: one JSON file, so that it can be read before the database is open and mended by hand. */
import type { EventPayload } from "../../app/contract/event.ts";
import { type Settings, settingPatchSchema, settingsSchema } from "../../app/contract/setting.ts";
import { HalogenError } from "../../app/error.ts";
import { keepAside, readJson, writeJson } from "./json-file.ts";

export const defaultSettings: Settings = {
  theme: "system",
  defaultModelId: null,
  contextLength: 0,
  kvType: "auto",
  threads: 0,
  engineInProcess: false,
  sendWithEnter: true,
  sidebarWidth: 260,
};

export interface SettingsFile {
  read(): Settings;
  /** Only what the patch names changes. Throws setting.invalid or store.unavailable; then the settings are as before. */
  update(patch: Partial<Settings>): Settings;
  /** What was wrong with the file when it was read. */
  readonly notices: EventPayload<"notice">[];
}

export interface SettingsOptions {
  path: string;
  clock: () => number;
  onChange?: (settings: Settings) => void;
}

/** A damaged file gives the defaults, a damaged value its own default; both with a notice. The damaged file is kept aside. */
export function openSettings({ path, clock, onChange }: SettingsOptions): SettingsFile {
  const notices: EventPayload<"notice">[] = [];
  const stored = readStored(path, clock(), notices);
  let current = tolerant(stored, path, notices);

  return {
    notices,
    read: () => current,
    update(patch) {
      const parsed = settingPatchSchema.safeParse(patch);
      if (!parsed.success) throw invalid(parsed.error.issues[0]);
      const given = Object.entries(parsed.data).filter(([, value]) => value !== undefined);
      const next: Settings = { ...current, ...Object.fromEntries(given) };
      write(path, { ...stored, ...next });
      current = next;
      onChange?.(current);
      return current;
    },
  };
}

/** The file's own keys are kept, also those that only another version knows. */
function readStored(path: string, now: number, notices: EventPayload<"notice">[]): Record<string, unknown> {
  const reading = attempt(path, "read", () => readJson(path, now));
  if (reading.state === "missing") return {};
  if (
    reading.state === "read" &&
    typeof reading.value === "object" &&
    reading.value !== null &&
    !Array.isArray(reading.value)
  ) {
    return reading.value as Record<string, unknown>;
  }
  const keptAs = reading.state === "damaged" ? reading.keptAs : attempt(path, "set aside", () => keepAside(path, now));
  const reason = reading.state === "damaged" ? reading.reason : "it holds no settings";
  notices.push({
    level: "warning",
    message: `The settings file could not be read (${reason}); Halogen started with its defaults`,
    hint: `The old file is kept as ${keptAs}.`,
  });
  return {};
}

function tolerant(stored: Record<string, unknown>, path: string, notices: EventPayload<"notice">[]): Settings {
  const whole = settingsSchema.safeParse({ ...defaultSettings, ...stored });
  if (whole.success) return whole.data;
  const bad = new Set(whole.error.issues.map((issue) => String(issue.path[0])));
  const kept = Object.entries(stored).filter(([key]) => !bad.has(key));
  notices.push({
    level: "warning",
    message: `These settings could not be used and have their defaults: ${[...bad].join(", ")}`,
    hint: `They come from ${path}.`,
  });
  return settingsSchema.parse({ ...defaultSettings, ...Object.fromEntries(kept) });
}

function write(path: string, value: unknown): void {
  attempt(path, "saved", () => writeJson(path, value));
}

function attempt<T>(path: string, verb: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new HalogenError("store.unavailable", `The settings file could not be ${verb}: ${reason}`, {
      hint: "Check that the data folder is writable and its disk is not full.",
      detail: { path },
      cause: error,
    });
  }
}

function invalid(issue: { path: PropertyKey[]; message: string } | undefined): HalogenError {
  const name = issue?.path.join(".") ?? "";
  return new HalogenError(
    "setting.invalid",
    `The setting "${name}" cannot have this value: ${issue?.message ?? "unknown"}`,
    { detail: { name } },
  );
}
