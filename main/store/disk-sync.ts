/**
 * Brings what was committed to the disk without making main wait for it: the write-ahead log is synced by a worker thread after each write, at
 * most one at a time. Between a commit and the end of its sync a power failure loses it; a killed process loses nothing.
 */
import { closeSync, fdatasync, openSync } from "node:fs";

export interface DiskSync {
  /** After a commit. */
  request(): void;
  close(): void;
}

/** `report` gets the first fault of its kind; the next commit meets the same disk and says so to its caller. */
export function createDiskSync(log: string, report: (error: unknown) => void): DiskSync {
  let file: number | null = null;
  let running = false;
  let again = false;
  let closed = false;
  let failed = false;

  function fail(error: unknown): void {
    if (!failed) report(error);
    failed = true;
  }

  function shut(): void {
    if (file !== null) closeSync(file);
    file = null;
  }

  function start(): void {
    try {
      file ??= openSync(log, "r+");
    } catch (error) {
      // Before the first write there is no log.
      if (Reflect.get(Object(error), "code") !== "ENOENT") fail(error);
      return;
    }
    running = true;
    again = false;
    fdatasync(file, (error) => {
      running = false;
      if (error !== null) fail(error);
      if (closed) shut();
      else if (again) start();
    });
  }

  return {
    request() {
      if (closed) return;
      if (running) again = true;
      else start();
    },
    close() {
      closed = true;
      if (!running) shut();
    },
  };
}
