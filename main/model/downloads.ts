/** The queue of downloads: one at a time, kept over restarts, each with its progress as an event. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { wireErrorSchema } from "../../app/contract/error.ts";
import type { AnyEvent } from "../../app/contract/event.ts";
import type { Download } from "../../app/contract/model.ts";
import { HalogenError, toWire, type WireError } from "../../app/error.ts";
import { readJson, writeJson } from "../setting/json-file.ts";
import type { Catalogue, Entry } from "./catalogue.ts";
import { discardParts, type FetchProgress, type FetchTools, fetchEntry, partFile } from "./fetch-entry.ts";
import { createSpeedMeter, type SpeedMeter } from "./speed.ts";
import { sidecar } from "./transfer.ts";

export interface Downloads {
  /** Of this run and what an earlier one left unfinished, oldest first. A download's id is its catalogue entry's. */
  list(): Download[];
  /** Starts, or starts again after a failure; the one that runs already is returned as it is. Throws model.not_found. */
  start(entryId: string): Download;
  /** Stops it in any phase and removes its part files. Throws model.not_found. */
  cancel(downloadId: string): Download;
  /** Settles when it is done; rejects with its error. */
  finished(downloadId: string): Promise<void>;
  /** Stops what runs; it goes on at the next start. */
  close(): Promise<void>;
}

export interface DownloadsOptions {
  catalogue: Catalogue;
  /** For part files. */
  folder: string;
  /** Where the queue is kept. */
  queueFile: string;
  tools: FetchTools;
  emit: (event: AnyEvent) => void;
  clock: () => number;
  onInstalled: (path: string) => void;
}

interface Task {
  entry: Entry;
  download: Download;
  speed: SpeedMeter;
  abort: AbortController;
  waiters: ((error: WireError | null) => void)[];
}

const tickMilliseconds = 500;
const emitMilliseconds = 250;
const over: readonly Download["state"][] = ["done", "failed", "cancelled"];

export function createDownloads(options: DownloadsOptions): Downloads {
  const { catalogue, folder, queueFile, tools, emit, clock, onInstalled } = options;
  const tasks = new Map<string, Task>();
  let active: Promise<void> | null = null;
  let current: Task | null = null;
  let closed = false;
  let lastEmit = 0;

  function save(): void {
    const unfinished = [...tasks.values()].filter((task) => !["done", "cancelled"].includes(task.download.state));
    writeJson(queueFile, {
      version: 1,
      queue: unfinished.map(({ entry, download }) => ({ id: entry.id, error: download.error })),
    });
  }

  function show(task: Task, change: Partial<Download>): void {
    const before = task.download.state;
    task.download = { ...task.download, ...change };
    const { state } = task.download;
    if (state === before && clock() - lastEmit < emitMilliseconds) return;
    lastEmit = clock();
    emit({ name: "download.changed", payload: task.download });
  }

  function progress(task: Task, { state, source, received, total }: FetchProgress): void {
    // Only the network has a speed; checking and unpacking have a share done.
    if (state === "connecting" || state === "downloading") task.speed.add(received);
    else task.speed.reset();
    show(task, { state, source, received, total, bytesPerSecond: Math.round(task.speed.bytesPerSecond()) });
  }

  function settle(task: Task, state: Download["state"], error: WireError | null): void {
    show(task, { state, error, bytesPerSecond: 0 });
    save();
    for (const waiter of task.waiters.splice(0)) waiter(error);
  }

  async function run(task: Task): Promise<void> {
    const ticker = setInterval(() => {
      if (task.download.bytesPerSecond > 0) show(task, { bytesPerSecond: Math.round(task.speed.bytesPerSecond()) });
    }, tickMilliseconds);
    try {
      const target = catalogue.target(task.entry);
      await fetchEntry({
        ...tools,
        entry: task.entry,
        target,
        folder,
        signal: task.abort.signal,
        onProgress: (step) => progress(task, step),
      });
      settle(task, "done", null);
      onInstalled(target);
    } catch (error) {
      // Closing is no cancelling: the part and its place in the queue stay.
      if (closed) return;
      const cancelled = task.abort.signal.aborted;
      if (cancelled) discardParts(folder, task.entry);
      settle(task, cancelled ? "cancelled" : "failed", toWire(error));
    } finally {
      clearInterval(ticker);
    }
  }

  function next(): void {
    if (closed || active !== null) return;
    const task = [...tasks.values()].find((candidate) => candidate.download.state === "queued");
    if (task === undefined) return;
    current = task;
    active = run(task).finally(() => {
      active = null;
      current = null;
      next();
    });
  }

  function add(entry: Entry, error: WireError | null): Task {
    const state = error === null ? "queued" : "failed";
    const source = entry.sources[0]?.label ?? "";
    const download: Download = {
      id: entry.id,
      name: entry.name,
      state,
      source,
      received: 0,
      total: entry.bytes,
      bytesPerSecond: 0,
      error,
    };
    const task: Task = { entry, download, speed: createSpeedMeter(clock), abort: new AbortController(), waiters: [] };
    // Behind those that wait already.
    tasks.delete(entry.id);
    tasks.set(entry.id, task);
    return task;
  }

  function find(downloadId: string): Task {
    const task = tasks.get(downloadId);
    if (task === undefined)
      throw new HalogenError("model.not_found", "There is no such download", { detail: { downloadId } });
    return task;
  }

  for (const { id, error } of readQueue(queueFile, clock())) {
    const entry = catalogue.list().some((known) => known.id === id) ? catalogue.get(id) : null;
    if (entry !== null && !catalogue.installed(entry)) add(entry, error);
  }
  removeOrphans(
    folder,
    [...tasks.values()].map((task) => task.entry),
  );
  next();

  return {
    list: () => [...tasks.values()].map((task) => task.download),
    start(entryId) {
      const entry = catalogue.get(entryId);
      const known = tasks.get(entryId);
      if (known !== undefined && !over.includes(known.download.state)) return known.download;
      if (closed) throw new HalogenError("download.failed", "Halogen is closing");
      const task = add(entry, null);
      if (catalogue.installed(entry)) settle(task, "done", null);
      else {
        save();
        emit({ name: "download.changed", payload: task.download });
        next();
      }
      return task.download;
    },
    cancel(downloadId) {
      const task = find(downloadId);
      if (task === current) task.abort.abort();
      else if (!over.includes(task.download.state) || task.download.state === "failed") {
        discardParts(folder, task.entry);
        settle(
          task,
          "cancelled",
          toWire(new HalogenError("download.cancelled", `The download of ${task.entry.name} was stopped`)),
        );
      }
      return task.download;
    },
    finished(downloadId) {
      const task = find(downloadId);
      return new Promise((resolve, reject) => {
        const waiter = (error: WireError | null): void => {
          if (error === null) resolve();
          else reject(new HalogenError(error.code, error.message, { hint: error.hint, detail: error.detail }));
        };
        if (over.includes(task.download.state)) waiter(task.download.error);
        else task.waiters.push(waiter);
      });
    },
    async close() {
      closed = true;
      current?.abort.abort();
      await active;
      const closing = toWire(
        new HalogenError("download.cancelled", "Halogen was closed; the download goes on at the next start"),
      );
      for (const task of tasks.values()) for (const waiter of task.waiters.splice(0)) waiter(closing);
    },
  };
}

/** A queue file that cannot be read costs a click on "download", not the start of the app. */
function readQueue(queueFile: string, now: number): { id: string; error: WireError | null }[] {
  const reading = readJson(queueFile, now);
  const queue: unknown = reading.state === "read" ? Reflect.get(Object(reading.value), "queue") : null;
  if (!Array.isArray(queue)) return [];
  return queue.flatMap((item: unknown) => {
    const id: unknown = Reflect.get(Object(item), "id");
    const error = wireErrorSchema.safeParse(Reflect.get(Object(item), "error"));
    return typeof id === "string" ? [{ id, error: error.success ? error.data : null }] : [];
  });
}

/** Part files whose download is no longer known only fill the disk. */
function removeOrphans(folder: string, entries: Entry[]): void {
  const kept = new Set(entries.flatMap((entry) => [partFile(folder, entry), sidecar(partFile(folder, entry))]));
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (Reflect.get(Object(error), "code") === "ENOENT") return;
    throw error;
  }
  for (const name of names) {
    const path = join(folder, name);
    if (/\.(part|part\.json|pip)$/.test(name) && !kept.has(path)) rmSync(path, { recursive: true, force: true });
  }
}
