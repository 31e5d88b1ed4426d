/** A program that answers lines of standard input with lines of JSON (native/bench/serve.h): halogen-bench, and test/peer's halogen-llama-peer and halogen-ik-peer. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Introduction {
  version: string;
  kernels: string;
  /** Type of the keys and values. */
  kv: string;
  loadMilliseconds: number;
  vocabulary: number;
  trainedContext: number;
}

/** One measured run: to the first token, and from there to the last. */
export interface Run {
  prefillMilliseconds: number;
  decodeMilliseconds: number;
  ids: number[];
}

/** The likeliest token of each step, the second, and how many nats it lies behind. */
export interface Path {
  ids: number[];
  seconds: number[];
  gaps: number[];
}

/** Log probabilities by token, one row a position. */
export interface Rows {
  rows: number;
  width: number;
  path: string;
}

/** Bytes of a process: what it holds now, and how much of that is its own rather than the mapped file's. */
export interface Resident {
  all: number;
  own: number;
}

export interface Asked {
  introduction: Introduction;
  time(ids: readonly number[], steps: number): Promise<Run>;
  /** Only llama.cpp's program answers this. */
  path(ids: readonly number[], steps: number): Promise<Path>;
  /** Into a file of its own, which the caller removes. */
  score(ids: readonly number[], from: number): Promise<Rows>;
  resident(): Resident;
  close(): Promise<void>;
}

let number = 0;

/** `scratch`: a folder for token ids and scores. Rejects with the program's own words when it ends before it answers. */
export async function ask(program: string, args: readonly string[], scratch: string): Promise<Asked> {
  const child: ChildProcessWithoutNullStreams = spawn(program, args);
  number += 1;
  const tokens = join(scratch, `${number}.txt`);
  let complaint = "";
  child.stderr.on("data", (chunk) => {
    complaint += String(chunk);
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve());
  });
  const answer = async <T>(): Promise<T> => {
    const line = await lines.next();
    if (line.done !== true) return JSON.parse(line.value) as T;
    await ended;
    throw new Error(`${program} ${args.join(" ")}\n${complaint.trim()}`);
  };
  const say = <T>(what: string, ids: readonly number[], rest: string): Promise<T> => {
    writeFileSync(tokens, ids.join(" "));
    child.stdin.write(`${what} ${tokens} ${rest}\n`);
    return answer<T>();
  };
  return {
    introduction: await answer<Introduction>(),
    time: (ids, steps) => say<Run>("time", ids, String(steps)),
    path: (ids, steps) => say<Path>("path", ids, String(steps)),
    async score(ids, from) {
      number += 1;
      const path = join(scratch, `${number}.f32`);
      return { ...(await say<Omit<Rows, "path">>("score", ids, `${from} ${path}`)), path };
    },
    resident() {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      const kilobytes = (key: string): number =>
        Number(new RegExp(`^${key}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? Number.NaN);
      return { all: 1024 * kilobytes("VmRSS"), own: 1024 * kilobytes("RssAnon") };
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
