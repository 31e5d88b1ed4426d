/** One thread that makes masks, started when it is first needed and again when it is lost: that costs the reply it worked for, and no other. */
import { fromWire, HalogenError } from "../../app/error.ts";
import type { GrammarRequest } from "./compiler.ts";
import type { FromWorker, Offer, ToWorker } from "./message.ts";

/** A thread, as far as it is used here. */
export interface GrammarThread {
  post(message: ToWorker): void;
  onMessage(handler: (message: FromWorker) => void): void;
  /** Once, when it is gone; `error`: why, where that is known. */
  onGone(handler: (error: Error | null) => void): void;
  /** Whether it keeps the process alive. */
  hold(held: boolean): void;
  kill(): void;
}

export interface LaneLimits {
  /** Milliseconds for one grammar or mask. */
  work: number;
  /** For what nobody waits for any more. */
  unwanted: number;
}

export const laneLimits: LaneLimits = { work: 10_000, unwanted: 500 };

/** One reply. Its calls go one after the other. */
export interface GrammarSession {
  /** Rejects with grammar.*, request.cancelled, or internal where the thread was lost. */
  start(): Promise<Offer>;
  accept(token: number): Promise<Offer>;
  /** Ends it at once, whatever is under way; harmless when it has ended. */
  end(): void;
}

export interface GrammarLane {
  /** Starts the thread where none is. What goes wrong with that goes wrong again, and is told, when it is needed. */
  prepare(): void;
  endTokens(): Promise<readonly number[]>;
  open(request: GrammarRequest): GrammarSession;
  close(): void;
}

interface ReadyThread {
  thread: GrammarThread;
  endTokens: readonly number[];
}

interface Task {
  id: number;
  message: ToWorker;
  resolve(offer: Offer): void;
  reject(error: HalogenError): void;
}

interface Kept {
  request: GrammarRequest;
  /** What it has accepted, so that another thread can go on. */
  tokens: number[];
  /** Whether the thread that runs now knows it. */
  known: boolean;
}

export function createGrammarLane(spawn: () => Promise<GrammarThread>, limits: LaneLimits = laneLimits): GrammarLane {
  const sessions = new Map<number, Kept>();
  let queue: Task[] = [];
  let current: Task | null = null;
  let thread: Promise<ReadyThread> | null = null;
  /** The thread of `thread`, once it is made, and once it has said that it is ready. */
  let spawned: GrammarThread | null = null;
  let running: GrammarThread | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let nextId = 1;
  let closed = false;

  const forgetThread = (): void => {
    thread = null;
    spawned = null;
    running = null;
    for (const session of sessions.values()) session.known = false;
  };

  const startThread = async (): Promise<ReadyThread> => {
    const made = await spawn();
    spawned = made;
    return new Promise((resolve, reject) => {
      made.onMessage((message) => {
        if (message.kind === "ready") {
          running = made;
          if (current === null) made.hold(false);
          resolve({ thread: made, endTokens: message.endTokens });
        } else if (message.kind === "unable") {
          reject(fromWire(message.error));
          made.kill();
        } else if (running === made) receive(message);
      });
      made.onGone((error) => {
        const words = error === null ? "" : `: ${error.message}`;
        const reason = closed
          ? cancelled()
          : new HalogenError("internal", `The grammar's thread was lost${words}`, {
              hint: "Send the message again.",
              ...(error === null ? {} : { cause: error }),
            });
        const atWork = running === made;
        if (spawned === made) forgetThread();
        reject(reason);
        if (atWork) finish((task) => task.reject(reason));
      });
      if (closed) made.kill();
    });
  };

  const ready = (): Promise<ReadyThread> => {
    if (closed) return Promise.reject(new HalogenError("model.not_loaded", "The model was unloaded"));
    if (thread === null) {
      const started = startThread();
      thread = started;
      started.catch(() => {
        if (thread === started) forgetThread();
      });
    }
    return thread;
  };

  /** The task that the thread works for ends with this error, and the thread with it, when the time is over. */
  const watch = (milliseconds: number, error: () => HalogenError): void => {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(() => {
      const lost = running;
      forgetThread();
      lost?.kill();
      finish((task) => task.reject(error()));
    }, milliseconds);
  };

  const finish = (settle: (task: Task) => void): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    running?.hold(false);
    const done = current;
    current = null;
    if (done !== null) settle(done);
    void next();
  };

  const receive = (message: FromWorker & { kind: "offer" | "fault" }): void => {
    if (current === null || current.id !== message.id) return;
    if (message.kind === "offer") finish((task) => task.resolve(message.offer));
    else finish((task) => task.reject(fromWire(message.error)));
  };

  const next = async (): Promise<void> => {
    if (current !== null) return;
    const task = queue.shift();
    if (task === undefined) return;
    current = task;
    try {
      const { thread: on } = await ready();
      if (current !== task) return;
      const session = sessions.get(task.id);
      if (session === undefined) {
        // Its reply has ended meanwhile.
        finish((each) => each.reject(cancelled()));
        return;
      }
      on.hold(true);
      watch(limits.work, () => tooLong(limits.work));
      const { request, tokens } = session;
      on.post(session.known ? task.message : { kind: "start", id: task.id, request, tokens: [...tokens] });
      session.known = true;
    } catch (error) {
      if (current === task) finish((each) => each.reject(error as HalogenError));
    }
  };

  const add = (id: number, message: ToWorker): Promise<Offer> =>
    new Promise((resolve, reject) => {
      queue.push({ id, message, resolve, reject });
      void next();
    });

  return {
    prepare: () => void ready().catch(() => undefined),
    endTokens: async () => (await ready()).endTokens,
    open(request) {
      const id = nextId++;
      const session: Kept = { request, tokens: [], known: false };
      sessions.set(id, session);
      return {
        start: () => add(id, { kind: "start", id, request, tokens: [] }),
        accept(token) {
          if (closed) return Promise.reject(cancelled());
          session.tokens.push(token);
          return add(id, { kind: "accept", id, token });
        },
        end() {
          if (!sessions.delete(id)) return;
          const left = queue.filter((task) => task.id === id);
          queue = queue.filter((task) => task.id !== id);
          for (const task of left) task.reject(cancelled());
          if (current?.id === id && running !== null) {
            current.reject(cancelled());
            // The thread cannot be interrupted; what takes long is not waited for.
            watch(limits.unwanted, cancelled);
          }
          if (session.known) running?.post({ kind: "end", id });
        },
      };
    },
    close() {
      closed = true;
      sessions.clear();
      const left = queue;
      queue = [];
      for (const task of left) task.reject(cancelled());
      const lost = spawned;
      forgetThread();
      lost?.kill();
      finish((task) => task.reject(cancelled()));
    },
  };
}

function cancelled(): HalogenError {
  return new HalogenError("request.cancelled", "The reply was ended");
}

function tooLong(milliseconds: number): HalogenError {
  const seconds = milliseconds / 1000;
  return new HalogenError("grammar.unsupported", `This grammar takes longer than ${seconds} s to work out`, {
    hint: "Make it smaller, or make what may follow each part differ from what may go on with it.",
    detail: { seconds },
  });
}
