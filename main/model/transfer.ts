/**
 * One file over HTTP into a part file: resumes after a cut or a restart, notices when nothing arrives, tries again with growing pauses.
 * What lies in the part file is never trusted further than the server's own validator or the checksum that follows.
 */
import { type FileHandle, open } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { readJson, writeJson } from "../setting/json-file.ts";
import { type Answer, get, HttpFault, type ProxyRoute } from "./http.ts";

export interface TransferLimits {
  /** No byte for so long: the connection is given up and made again. */
  stallMilliseconds: number;
  headMilliseconds: number;
  /** Tries in a row that bring nothing new. */
  tries: number;
  /** The same, while the server has not sent a single byte: another source may be at hand. */
  firstTries: number;
  /** Pause before the second try; doubles up to `longestPauseMilliseconds`. */
  pauseMilliseconds: number;
  longestPauseMilliseconds: number;
}

export const transferLimits: TransferLimits = {
  stallMilliseconds: 15_000,
  headMilliseconds: 15_000,
  tries: 6,
  firstTries: 2,
  pauseMilliseconds: 1000,
  longestPauseMilliseconds: 30_000,
};

export interface TransferOptions {
  url: string;
  /** The part file; beside it `<part>.json` remembers what it is a part of. */
  part: string;
  /** Known size in bytes. */
  bytes: number;
  signal: AbortSignal;
  proxy?: ProxyRoute;
  limits: TransferLimits;
  /** Length of the part file. */
  onBytes: (received: number) => void;
  onState: (state: "connecting" | "downloading") => void;
}

interface Origin {
  url: string;
  validator: string | null;
}

/** Resolves when the part file has all its bytes. Rejects with HttpFault, a file system error, or the signal's abort. */
export async function transfer(options: TransferOptions): Promise<void> {
  const { part, bytes, signal, limits, onBytes } = options;
  const file = await open(part, "a+");
  try {
    let received = (await file.stat()).size;
    if (received > 0 && (received > bytes || originOf(part)?.url !== options.url)) received = await restart(file);
    let failures = 0;
    let mostFailures = limits.firstTries;
    let pause = limits.pauseMilliseconds;
    while (received < bytes) {
      onBytes(received);
      const before = received;
      let wait = pause;
      try {
        await stretch(options, file, received);
      } catch (error) {
        if (signal.aborted || isFinal(error)) throw error;
        wait = error instanceof Retry ? Math.max(error.milliseconds, pause) : pause;
        failures += 1;
        if ((await file.stat()).size > before) {
          failures = 0;
          mostFailures = limits.tries;
        }
        if (failures >= mostFailures) throw error;
      }
      received = (await file.stat()).size;
      if (received > before) pause = limits.pauseMilliseconds;
      if (received >= bytes) break;
      options.onState("connecting");
      await sleep(Math.min(wait, limits.longestPauseMilliseconds), signal);
      pause = Math.min(pause * 2, limits.longestPauseMilliseconds);
    }
    onBytes(received);
    if (received > bytes) {
      await restart(file);
      throw new HttpFault(`the server sent more than the ${bytes} bytes that belong to the file`, true);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** One connection: from the end of the part file to the end of the answer. */
async function stretch(options: TransferOptions, file: FileHandle, from: number): Promise<void> {
  const { signal, limits } = options;
  const origin = originOf(options.part);
  const headers: Record<string, string> = {};
  if (from > 0) headers.range = `bytes=${from}-`;
  if (from > 0 && origin?.validator != null) headers["if-range"] = origin.validator;
  options.onState("connecting");
  const { headMilliseconds } = limits;
  const answer = await get(options.url, {
    headers,
    signal,
    headMilliseconds,
    ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
  });
  try {
    const at = await startOf(answer, from, options.bytes, file);
    writeJson(sidecar(options.part), { url: options.url, validator: validatorOf(answer.headers) } satisfies Origin);
    options.onState("downloading");
    await copy(answer, file, at, options);
  } finally {
    answer.body.destroy();
  }
}

/** Where in the file this answer's first byte belongs; the file has been cut to that. */
async function startOf(answer: Answer, from: number, bytes: number, file: FileHandle): Promise<number> {
  const { status, headers } = answer;
  const host = new URL(answer.url).host;
  if (headers["content-encoding"] !== undefined && headers["content-encoding"] !== "identity") {
    throw new HttpFault(`${host} sends the file in another encoding (${headers["content-encoding"]})`, true);
  }
  if (status === 206) {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers["content-range"] ?? "");
    if (range === null || Number(range[1]) !== from)
      throw new HttpFault(`${host} answered with another part of the file`, false);
    if (range[2] !== "*" && Number(range[2]) !== bytes)
      throw new HttpFault(`the file on ${host} has ${range[2]} bytes, not ${bytes}`, true);
    return from;
  }
  if (status === 200) {
    const length = headers["content-length"];
    if (length !== undefined && Number(length) !== bytes)
      throw new HttpFault(`the file on ${host} has ${length} bytes, not ${bytes}`, true);
    return restart(file);
  }
  if (status === 416) {
    await restart(file);
    throw new HttpFault(`${host} cannot go on from byte ${from}`, false);
  }
  const reason = `${host} answered ${status} ${answer.body.statusMessage ?? ""}`.trim();
  if (status === 429 || status === 408 || status >= 500) throw new Retry(reason, retryAfter(headers));
  throw new HttpFault(reason, true);
}

async function copy(answer: Answer, file: FileHandle, at: number, options: TransferOptions): Promise<void> {
  const { stallMilliseconds } = options.limits;
  const stalled = new HttpFault(`nothing arrived for ${stallMilliseconds / 1000} s`, false);
  let timer = setTimeout(() => answer.body.destroy(stalled), stallMilliseconds);
  let received = at;
  try {
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      clearTimeout(timer);
      for (let written = 0; written < chunk.length; ) written += (await file.write(chunk, written)).bytesWritten;
      received += chunk.length;
      options.onBytes(received);
      if (received > options.bytes) return;
      timer = setTimeout(() => answer.body.destroy(stalled), stallMilliseconds);
    }
  } finally {
    clearTimeout(timer);
  }
  if (!answer.body.complete) throw new HttpFault("the connection was cut", false);
}

class Retry extends HttpFault {
  readonly milliseconds: number;

  constructor(message: string, milliseconds: number) {
    super(message, false);
    this.milliseconds = milliseconds;
  }
}

function retryAfter(headers: IncomingHttpHeaders): number {
  const seconds = Number(headers["retry-after"]);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}

/** If-Range takes strong validators only. */
function validatorOf(headers: IncomingHttpHeaders): string | null {
  const { etag } = headers;
  if (etag !== undefined && !etag.startsWith("W/")) return etag;
  return headers["last-modified"] ?? null;
}

export function sidecar(part: string): string {
  return `${part}.json`;
}

function originOf(part: string): Origin | null {
  const reading = readJson(sidecar(part), 0);
  if (reading.state !== "read") return null;
  const { url, validator } = Object(reading.value) as Partial<Origin>;
  return typeof url === "string" ? { url, validator: typeof validator === "string" ? validator : null } : null;
}

async function restart(file: FileHandle): Promise<number> {
  await file.truncate(0);
  return 0;
}

/** A full disk or a missing permission does not get better by asking the server again. */
function isFinal(error: unknown): boolean {
  if (error instanceof HttpFault) return error.permanent;
  const code: unknown = Reflect.get(Object(error), "code");
  return ["ENOSPC", "EDQUOT", "EACCES", "EPERM", "EROFS", "EIO", "ENOTFOUND", "CERT_HAS_EXPIRED"].includes(
    String(code),
  );
}

export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Error("aborted"));
    const stop = (): void => {
      clearTimeout(timer);
      reject(new Error("aborted"));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
  });
}
