/** A first model for a machine that has none: used by set-up, the CLI and the first-run screen alike. */
import { HalogenError } from "../../app/error.ts";
import type { Catalogue } from "./catalogue.ts";
import { type FetchProgress, type FetchTools, fetchEntry } from "./fetch-entry.ts";
import { readModelFolders } from "./folder.ts";

export interface StarterOptions {
  catalogue: Catalogue;
  modelFolders: readonly string[];
  /** For part files. */
  folder: string;
  tools: FetchTools;
  signal: AbortSignal;
  onProgress: (progress: FetchProgress) => void;
}

export interface Starter {
  /** `present`: there was a model already, not necessarily the starter. */
  state: "present" | "installed";
  path: string;
}

/** Rejects as fetchEntry does; the hint then names the folder to put a GGUF file in. */
export async function ensureStarter(options: StarterOptions): Promise<Starter> {
  const { catalogue, modelFolders, folder, tools, signal, onProgress } = options;
  const { files } = await readModelFolders(modelFolders);
  const [first] = files;
  if (first !== undefined) return { state: "present", path: first.path };
  const entry = catalogue.starter();
  if (entry === null) throw new HalogenError("download.no_source", "The catalogue has no starter model");
  const path = catalogue.target(entry);
  await fetchEntry({ ...tools, entry, target: path, folder, signal, onProgress });
  return { state: "installed", path };
}
