/** The client inside Electron. The bridge is there as long as the window is, so the connection is always open. */
import type { CallName, Reply, Request } from "../../app/contract/call.ts";
import { type Bridge, openResult } from "../../app/contract/channel.ts";
import type { Client } from "../../app/contract/client.ts";
import { HalogenError } from "../../app/error.ts";
import { createListeners } from "./listener.ts";

export function createIpcClient(bridge: Bridge): Client {
  const listeners = createListeners("open");
  const stop = bridge.on(listeners.receive);
  let closed = false;
  return {
    async call<N extends CallName>(name: N, request: Request<N>): Promise<Reply<N>> {
      if (closed) throw new HalogenError("transport.closed", `The client was closed before ${name}.`);
      return openResult(name, await bridge.call(name, request));
    },
    on: listeners.on,
    onConnection: listeners.onConnection,
    close() {
      closed = true;
      stop();
      listeners.clear();
    },
  };
}
