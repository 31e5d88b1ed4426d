/** The environment as Halogen understands it. Pure: the only function that knows the variables' names and each system's folders. */
import { posix, win32 } from "node:path";
import { HalogenError } from "../../app/error.ts";

export interface Environment {
  /** Chats, settings, window state. Absolute, like every folder here. */
  dataFolder: string;
  /** Where models are looked for; the first one is where downloads go. Never empty. */
  modelFolders: [string, ...string[]];
  /** What can be made again: inspections, part files of downloads, kernels. */
  cacheFolder: string;
  /** Overrides, for development, tests and hosts that need another build; undefined = as packaged. */
  resourceFolder: string | undefined;
  addonPath: string | undefined;
  sqliteBinding: string | undefined;
  /** Path of a module that stands in for the native engine (the scripted engine of the tests). */
  engineModule: string | undefined;
  /** Null = as the settings say. */
  engineInProcess: boolean | null;
  python: string | undefined;
  proxy: ProxyEnvironment;
  /** All of them, for programs that Halogen starts. */
  variables: EnvironmentVariables;
}

export interface ProxyEnvironment {
  http: string | undefined;
  https: string | undefined;
  /** Host names and suffixes that are reached directly; "*" = all. */
  direct: string[];
}

export type EnvironmentVariables = Record<string, string | undefined>;

/**
 * HALOGEN_DATA moves everything into one folder; HALOGEN_MODELS is a list of model folders in the system's path syntax; HALOGEN_CACHE,
 * HALOGEN_RESOURCES, HALOGEN_ADDON, HALOGEN_SQLITE, HALOGEN_ENGINE (a module) and HALOGEN_PYTHON are single paths; HALOGEN_IN_PROCESS is 0 or 1.
 * Throws setting.invalid for a relative path or another value.
 */
export function readEnvironment(env: EnvironmentVariables, platform: NodeJS.Platform, home: string): Environment {
  const path = platform === "win32" ? win32 : posix;
  const absolute = (name: string): string | undefined => {
    const value = present(env[name]);
    if (value !== undefined && !path.isAbsolute(value)) throw invalid(name, value, "it must be an absolute path");
    return value === undefined ? undefined : path.normalize(value);
  };
  const own = absolute("HALOGEN_DATA");
  const folders =
    own === undefined
      ? systemFolders(env, platform, home)
      : { data: own, cache: path.join(own, "cache"), models: path.join(own, "models") };
  const [first, ...more] = modelFolders(present(env.HALOGEN_MODELS), path);
  return {
    dataFolder: folders.data,
    modelFolders: first === undefined ? [folders.models] : [first, ...more],
    cacheFolder: absolute("HALOGEN_CACHE") ?? folders.cache,
    resourceFolder: absolute("HALOGEN_RESOURCES"),
    addonPath: absolute("HALOGEN_ADDON"),
    sqliteBinding: absolute("HALOGEN_SQLITE"),
    engineModule: absolute("HALOGEN_ENGINE"),
    engineInProcess: flag("HALOGEN_IN_PROCESS", env),
    python: present(env.HALOGEN_PYTHON),
    proxy: readProxy(env),
    variables: { ...env },
  };
}

function systemFolders(
  env: EnvironmentVariables,
  platform: NodeJS.Platform,
  home: string,
): { data: string; cache: string; models: string } {
  if (platform === "win32") {
    const roaming = present(env.APPDATA) ?? win32.join(home, "AppData", "Roaming");
    const local = present(env.LOCALAPPDATA) ?? win32.join(home, "AppData", "Local");
    // Gigabytes of weights must not travel with a roaming profile.
    return {
      data: win32.join(roaming, "Halogen"),
      cache: win32.join(local, "Halogen", "cache"),
      models: win32.join(local, "Halogen", "models"),
    };
  }
  if (platform === "darwin") {
    const data = posix.join(home, "Library", "Application Support", "Halogen");
    return { data, cache: posix.join(home, "Library", "Caches", "Halogen"), models: posix.join(data, "models") };
  }
  // The XDG specification tells to ignore relative paths.
  const base = (name: string, otherwise: string): string => {
    const value = present(env[name]);
    return posix.join(value !== undefined && posix.isAbsolute(value) ? value : posix.join(home, otherwise), "halogen");
  };
  const data = base("XDG_DATA_HOME", ".local/share");
  return { data, cache: base("XDG_CACHE_HOME", ".cache"), models: posix.join(data, "models") };
}

function modelFolders(list: string | undefined, path: typeof posix | typeof win32): string[] {
  const folders = (list ?? "").split(path.delimiter).filter((folder) => folder.trim() !== "");
  for (const folder of folders) {
    if (!path.isAbsolute(folder)) throw invalid("HALOGEN_MODELS", folder, "each folder must be an absolute path");
  }
  return [...new Set(folders.map((folder) => path.normalize(folder)))];
}

/** Lower case wins, as in curl; HTTP_PROXY in capitals is read too because desktop sessions set it so. */
function readProxy(env: EnvironmentVariables): ProxyEnvironment {
  const either = (name: string): string | undefined => present(env[name.toLowerCase()]) ?? present(env[name]);
  const all = either("ALL_PROXY");
  const usable = (value: string | undefined): string | undefined =>
    value === undefined || /^https?:\/\//i.test(value) ? value : value.includes("://") ? undefined : `http://${value}`;
  const direct = (either("NO_PROXY") ?? "").split(/[\s,]+/).filter((entry) => entry !== "");
  return { http: usable(either("HTTP_PROXY") ?? all), https: usable(either("HTTPS_PROXY") ?? all), direct };
}

function flag(name: string, env: EnvironmentVariables): boolean | null {
  const value = present(env[name]);
  if (value === undefined) return null;
  if (value === "1" || value === "true") return true;
  if (value === "0" || value === "false") return false;
  throw invalid(name, value, "it must be 0 or 1");
}

function present(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value;
}

function invalid(name: string, value: string, rule: string): HalogenError {
  return new HalogenError("setting.invalid", `The environment variable ${name} is "${value}", but ${rule}`, {
    hint: `Correct ${name} or remove it, then start again.`,
    detail: { name, value },
  });
}
