/** One page's socket: calls in, replies and events out. */
import type { WebSocket } from "ws";
import { callFrameSchema, closeCode } from "../../app/contract/channel.ts";
import type { Service } from "../../app/contract/client.ts";
import { HalogenError, toWire } from "../../app/error.ts";
import { createOutbox } from "./outbox.ts";

/** Calls of one page that run at once; more wait in the socket. */
const callLimit = 64;
const pingMilliseconds = 30_000;

export function serveSocket(socket: WebSocket, service: Service, log: (line: string) => void): void {
  const outbox = createOutbox({
    // The callback's error is the same that ends the socket, which is handled below.
    send: (text, done) => socket.send(text, () => done()),
    overflow() {
      log("a page read too slowly: it was asked to start anew");
      socket.close(closeCode.resync, "resync");
      // A page that does not read does not answer the close either.
      setTimeout(() => socket.terminate(), 2000).unref();
    },
  });
  const unsubscribe = service.subscribe((event) => outbox.event(event));
  let running = 0;
  let answered = true;

  const ping = setInterval(() => {
    if (!answered) {
      socket.terminate();
      return;
    }
    answered = false;
    socket.ping();
  }, pingMilliseconds);
  ping.unref();

  async function answer(data: string): Promise<void> {
    const frame = readFrame(data);
    try {
      outbox.reply({ type: "reply", id: frame.id, reply: await service.handle(frame.name, frame.request) });
    } catch (error) {
      outbox.reply({ type: "error", id: frame.id, error: toWire(error) });
    }
  }

  socket.on("message", (data, isBinary) => {
    running += 1;
    if (running >= callLimit) socket.pause();
    answer(isBinary ? "" : data.toString())
      .catch((error: unknown) => {
        // A frame that is no frame has no id to answer to.
        log(`a page sent something unreadable: ${toWire(error).message}`);
        socket.close(1003, "unreadable frame");
      })
      .finally(() => {
        running -= 1;
        if (running < callLimit && socket.isPaused) socket.resume();
      });
  });
  socket.on("pong", () => {
    answered = true;
  });
  socket.on("error", (error) => log(`a page's connection failed: ${error.message}`));
  socket.on("close", () => {
    clearInterval(ping);
    unsubscribe();
    outbox.close();
  });
}

function readFrame(data: string) {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (error) {
    throw new HalogenError("request.invalid", "A frame on the socket is not JSON.", { cause: error });
  }
  const frame = callFrameSchema.safeParse(value);
  if (frame.success) return frame.data;
  throw new HalogenError("request.invalid", "A frame on the socket is no call.", { cause: frame.error });
}
