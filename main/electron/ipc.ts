/** The contract over Electron's IPC: one channel for calls, one for events, only to and from our own page. */
import type { CallResult } from "../../app/contract/channel.ts";
import type { Service } from "../../app/contract/client.ts";
import { HalogenError, toWire } from "../../app/error.ts";
import { callChannel, eventChannel } from "./bridge.ts";

/** The parts of Electron that are used, so that the contract suite can run them without it. */
export interface Frame {
  readonly url: string;
  readonly parent: unknown;
}

export interface MainSide {
  handle(
    channel: string,
    listener: (event: { senderFrame: Frame | null }, ...values: unknown[]) => Promise<CallResult>,
  ): void;
  removeHandler(channel: string): void;
}

export interface Contents {
  send(channel: string, value: unknown): void;
  isDestroyed(): boolean;
  once(event: "destroyed", listener: () => void): unknown;
}

export interface IpcOptions {
  ipc: MainSide;
  service: Service;
  /** Whether this address is a document of ours. */
  isPage(url: string): boolean;
}

export interface IpcServer {
  /** Sends every event to this window until it is destroyed. */
  attach(contents: Contents): void;
  close(): void;
}

export function serveIpc({ ipc, service, isPage }: IpcOptions): IpcServer {
  const detach = new Set<() => void>();

  ipc.handle(callChannel, async (event, name, request) => {
    try {
      checkSender(event.senderFrame, isPage);
      return { ok: true, reply: await service.handle(typeof name === "string" ? name : "", request) };
    } catch (error) {
      return { ok: false, error: toWire(error) };
    }
  });

  return {
    attach(contents) {
      const stop = service.subscribe((event) => {
        if (!contents.isDestroyed()) contents.send(eventChannel, event);
      });
      detach.add(stop);
      contents.once("destroyed", () => {
        stop();
        detach.delete(stop);
      });
    },
    close() {
      ipc.removeHandler(callChannel);
      for (const stop of detach) stop();
      detach.clear();
    },
  };
}

/** A frame inside the page, or a page from elsewhere, gets nothing; nor does a frame that has no address (yet). */
function checkSender(frame: Frame | null, isPage: (url: string) => boolean): void {
  if (frame !== null && frame.parent === null && isPage(frame.url)) return;
  throw new HalogenError("transport.unauthorised", "Only Halogen's own page may call Halogen.", {
    detail: { url: frame === null ? "" : frame.url.slice(0, 100) },
  });
}
