/**
 * Looks at chat templates in a thread of its own: a look takes up to a quarter of a second of rendering, and a template from anywhere may never
 * end, or fill the memory. Then the thread is ended, and the template is refused for good.
 */
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { TemplateProbe } from "../../app/chat/feature.ts";
import { fromWire, HalogenError } from "../../app/error.ts";
import type { ProbeReply } from "./probe-thread.ts";

export interface Prober {
  /** Each template is looked at once. Rejects with template.failed, also for one that takes too long or too much, or request.cancelled. */
  probe(source: string): Promise<TemplateProbe>;
  /** Ends the thread; looks that wait are cancelled. */
  close(): void;
}

export interface ProberOptions {
  /** probe-thread.ts, or its bundle. Absolute path. */
  entry: string;
  /** Milliseconds that one template may take, the start of the thread included; it gets them twice, in case the machine has slept. */
  patience?: number;
  /** MiB that the thread may hold. */
  memory?: number;
  /** Milliseconds after which an idle thread ends. */
  idle?: number;
}

interface Task {
  source: string;
  /** Tries that ran out of time. */
  tries: number;
  resolve(probe: TemplateProbe): void;
  reject(error: HalogenError): void;
}

export function createProber({ entry, patience = 6000, memory = 192, idle = 2000 }: ProberOptions): Prober {
  const known = new Map<string, Promise<TemplateProbe>>();
  const line: Task[] = [];
  let running: Task | null = null;
  let worker: Worker | null = null;
  let limit: NodeJS.Timeout | null = null;
  let rest: NodeJS.Timeout | null = null;
  let closed = false;

  function settle(end: (task: Task) => void): void {
    if (limit !== null) clearTimeout(limit);
    const task = running;
    running = null;
    if (task !== null) end(task);
    next();
  }

  function drop(): void {
    const left = worker;
    worker = null;
    left?.removeAllListeners();
    // What a thread says while it is ended concerns nobody any more.
    left?.on("error", () => undefined);
    void left?.terminate();
  }

  function start(): Worker {
    const made = startThread(entry, memory);
    // Waiting for a template must not keep the program alive.
    made.unref();
    made.on("message", (reply: ProbeReply) =>
      settle((task) => ("probe" in reply ? task.resolve(reply.probe) : task.reject(fromWire(reply.error)))),
    );
    made.on("error", (error: Error & { code?: string }) => {
      drop();
      const full = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      settle((task) => task.reject(refused(full ? `it takes more than ${memory} MiB` : error.message, error)));
    });
    return made;
  }

  function next(): void {
    if (running !== null || closed) return;
    const task = line.shift();
    if (rest !== null) clearTimeout(rest);
    if (task === undefined) {
      rest = setTimeout(drop, idle);
      rest.unref();
      return;
    }
    running = task;
    try {
      worker ??= start();
    } catch (error) {
      settle(() => task.reject(refused(`no thread could be started for it (${String(error)})`, error)));
      return;
    }
    worker.postMessage(task.source);
    limit = setTimeout(() => {
      drop();
      task.tries += 1;
      settle(() => {
        if (task.tries < 2) line.unshift(task);
        else task.reject(refused(`it did not end within ${patience / 1000} seconds`));
      });
    }, patience);
  }

  return {
    probe(source) {
      let found = known.get(source);
      if (found === undefined) {
        found = new Promise((resolve, reject) => {
          if (closed) reject(cancelled());
          else line.push({ source, tries: 0, resolve, reject });
        });
        known.set(source, found);
        // Whoever asks hears of it; nobody needs to.
        found.catch(() => undefined);
        next();
      }
      return found;
    },
    close() {
      closed = true;
      if (limit !== null) clearTimeout(limit);
      if (rest !== null) clearTimeout(rest);
      drop();
      for (const task of [running, ...line.splice(0)]) task?.reject(cancelled());
      running = null;
    },
  };
}

/** A bundle is handed over as text: the archive of a packaged app is no folder to a thread. */
function startThread(entry: string, memory: number): Worker {
  const limits = { resourceLimits: { maxOldGenerationSizeMb: memory, maxYoungGenerationSizeMb: 32 } };
  return entry.endsWith(".cjs")
    ? new Worker(readFileSync(entry, "utf8"), { eval: true, ...limits })
    : new Worker(entry, limits);
}

function refused(reason: string, cause?: unknown): HalogenError {
  return new HalogenError("template.failed", `The model's chat template cannot be used: ${reason}`, {
    hint: "The template in the model file is broken, or was made to do harm. Choose another model.",
    detail: { refused: false, reason },
    cause,
  });
}

function cancelled(): HalogenError {
  return new HalogenError("request.cancelled", "Halogen is closing");
}
