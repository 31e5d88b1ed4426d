/** A model of the library: its file, what is known of it, and how it looks to the page. */
import type { ChatFeatures, Model } from "../../app/contract/model.ts";
import type { MemoryPlan, ModelInspection } from "../../app/engine.ts";
import { HalogenError, type WireError } from "../../app/error.ts";
import { displayName, type ModelFile } from "./folder.ts";
import { readSamplingHints } from "./hint.ts";

export interface Entry {
  file: ModelFile;
  inspection: ModelInspection | null;
  /** Of its chat template, once that was looked at; null before. */
  features: ChatFeatures | null;
  /** The look that `features` comes from, which never rejects; null when nothing was inspected. */
  study: Promise<void> | null;
  /** Of the file: it can never be loaded as it is. */
  fault: WireError | null;
  /** Of the last try to load it. */
  loadError: WireError | null;
  state: "idle" | "loading" | "loaded";
  /** 0..1 while loading. */
  progress: number | null;
  plan: MemoryPlan | null;
}

export function createEntry(file: ModelFile): Entry {
  return {
    file,
    inspection: null,
    features: null,
    study: null,
    fault: null,
    loadError: null,
    state: "idle",
    progress: null,
    plan: null,
  };
}

export function toModel(entry: Entry): Model {
  const { file, inspection } = entry;
  const idle = entry.fault === null ? "available" : "broken";
  return {
    id: file.id,
    name: displayName(file.fileName),
    fileName: file.fileName,
    bytes: file.bytes,
    architecture: inspection?.architecture ?? "",
    format: inspection?.format ?? "",
    parameters: inspection?.parameters ?? 0,
    contextLength: inspection?.contextLength ?? 0,
    state: entry.state === "idle" ? idle : entry.state,
    progress: entry.state === "loading" ? (entry.progress ?? 0) : null,
    error: entry.fault ?? entry.loadError,
    hasTemplate: inspection?.template != null,
    features: entry.features,
    ...readSamplingHints(inspection?.metadata ?? {}),
    plan: entry.plan,
  };
}

/** What keeps a file that was read without an error from being loaded; null when nothing does. `architectures`: those the engine has. */
export function faultOf(
  file: ModelFile,
  inspection: ModelInspection,
  architectures: readonly string[],
): HalogenError | null {
  if (inspection.supported) return null;
  return new HalogenError(
    architectures.includes(inspection.architecture) ? "model.unsupported_format" : "model.unknown_architecture",
    inspection.problem || `This file is fine; Halogen has no support for "${inspection.architecture}" yet.`,
    {
      hint: "A newer Halogen may be able to load it.",
      detail: { file: file.fileName, architecture: inspection.architecture, format: inspection.format },
    },
  );
}

/** Faults that the names alone show; null when the file is worth opening. */
export function faultOfShards(file: ModelFile): HalogenError | null {
  if (file.missingShards.length === 0) return null;
  return new HalogenError(
    "file.missing",
    `Of ${file.shards} parts of ${file.fileName}, part ${file.missingShards.join(", ")} is not there`,
    {
      hint: "Download the missing parts into the same folder.",
      detail: { shards: file.shards, missing: file.missingShards.length },
    },
  );
}
