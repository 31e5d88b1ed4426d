/**
 * The client in a browser: calls and events over one WebSocket, so that they keep their order. Lost connections come back by themselves, with
 * growing pauses; calls under way then fail with transport.closed, since nobody knows whether they were carried out.
 */
import type { CallName, Reply, Request } from "../../app/contract/call.ts";
import {
  type CallFrame,
  frameByteLimit,
  openResult,
  type ServerFrame,
  serverFrameSchema,
} from "../../app/contract/channel.ts";
import type { Client } from "../../app/contract/client.ts";
import { HalogenError } from "../../app/error.ts";
import { createListeners } from "./listener.ts";

export interface SocketHandlers {
  open(): void;
  message(data: unknown): void;
  /** After `open` or instead of it; a failure to connect is a close, too. */
  close(): void;
}

export interface Socket {
  send(text: string): void;
  close(): void;
}

export interface HttpEnvironment {
  openSocket(handlers: SocketHandlers): Socket;
  /** False when the server refuses this page's cookie: then no reconnect can help. */
  checkAccess(): Promise<boolean>;
  /** Returns the function that cancels. */
  setTimer(run: () => void, milliseconds: number): () => void;
}

interface Waiting {
  frame: string;
  resolve(frame: ServerFrame): void;
  reject(error: HalogenError): void;
}

const firstPause = 250;
const longestPause = 5000;

export function createHttpClient(environment: HttpEnvironment): Client {
  const listeners = createListeners(null);
  const waiting = new Map<number, Waiting>();
  let nextId = 1;
  let pause = firstPause;
  let socket: Socket | null = null;
  let open = false;
  let refused = false;
  let closed = false;
  let cancelTimer: (() => void) | null = null;

  function rejectAll(error: HalogenError): void {
    const all = [...waiting.values()];
    waiting.clear();
    for (const entry of all) entry.reject(error);
  }

  function connect(): void {
    cancelTimer = null;
    const current = environment.openSocket({
      open() {
        open = true;
        refused = false;
        pause = firstPause;
        for (const entry of waiting.values()) current.send(entry.frame);
        listeners.setConnection("open");
      },
      message: receive,
      close() {
        if (socket !== current) return;
        socket = null;
        open = false;
        // Who is refused tries again, too: that is no new state.
        if (!refused) listeners.setConnection("closed");
        rejectAll(lost());
        if (!closed) void comeBack();
      },
    });
    socket = current;
  }

  async function comeBack(): Promise<void> {
    // A refused upgrade looks like any other failure to a page, so ask over HTTP why; no answer means the server is away.
    refused = !(await environment.checkAccess().catch(() => true));
    if (closed) return;
    listeners.setConnection(refused ? "refused" : "closed");
    if (refused) rejectAll(unauthorised());
    cancelTimer = environment.setTimer(connect, refused ? longestPause : pause);
    pause = Math.min(pause * 2, longestPause);
  }

  function receive(data: unknown): void {
    const parsed = serverFrameSchema.safeParse(parse(data));
    if (!parsed.success) {
      listeners.receive({ name: "unreadable frame" });
      return;
    }
    const frame = parsed.data;
    if (frame.type === "event") {
      listeners.receive(frame.event);
      return;
    }
    const entry = waiting.get(frame.id);
    waiting.delete(frame.id);
    entry?.resolve(frame);
  }

  connect();

  return {
    async call<N extends CallName>(name: N, request: Request<N>): Promise<Reply<N>> {
      if (closed) throw new HalogenError("transport.closed", `The client was closed before ${name}.`);
      if (refused) throw unauthorised();
      const id = nextId++;
      const frame = JSON.stringify({ type: "call", id, name, request } satisfies CallFrame);
      checkSize(name, frame);
      const answer = await new Promise<ServerFrame>((resolve, reject) => {
        waiting.set(id, { frame, resolve, reject });
        if (open) socket?.send(frame);
      });
      if (answer.type === "error") return openResult(name, { ok: false, error: answer.error });
      return openResult(name, { ok: true, reply: answer.type === "reply" ? answer.reply : undefined });
    },
    on: listeners.on,
    onConnection: listeners.onConnection,
    close() {
      closed = true;
      cancelTimer?.();
      socket?.close();
      listeners.clear();
      rejectAll(new HalogenError("transport.closed", "The client was closed."));
    },
  };
}

function parse(data: unknown): unknown {
  try {
    return JSON.parse(String(data));
  } catch {
    // Not JSON: the schema check that follows refuses it and the user is told.
    return undefined;
  }
}

function checkSize(name: string, frame: string): void {
  // Three bytes for a UTF-16 unit is the most; only near the limit is it worth counting exactly.
  if (frame.length * 3 <= frameByteLimit) return;
  const bytes = new TextEncoder().encode(frame).length;
  if (bytes <= frameByteLimit) return;
  throw new HalogenError("request.invalid", `${name} is ${bytes} bytes long; at most ${frameByteLimit} can be sent.`, {
    hint: "Shorten the text or send it in parts.",
    detail: { bytes, limit: frameByteLimit },
  });
}

function lost(): HalogenError {
  return new HalogenError("transport.closed", "The connection to Halogen was lost.", {
    hint: "It comes back by itself when Halogen runs; if it was closed, start it again.",
  });
}

function unauthorised(): HalogenError {
  return new HalogenError("transport.unauthorised", "This page may not talk to Halogen (any more).", {
    hint: "Halogen makes a new access token at each start: open the address that it printed.",
  });
}
