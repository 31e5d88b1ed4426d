/** The page's way to main: over the preload bridge inside Electron, over a socket in a browser. */
import type { Bridge } from "../../app/contract/channel.ts";
import type { Client } from "../../app/contract/client.ts";
import { createHttpClient, type HttpEnvironment } from "./http.ts";
import { createIpcClient } from "./ipc.ts";

declare global {
  /** Set by the preload script; undefined in a browser. */
  var halogen: Bridge | undefined;
}

export function createClient(): Client {
  return globalThis.halogen === undefined
    ? createHttpClient(browserEnvironment())
    : createIpcClient(globalThis.halogen);
}

function browserEnvironment(): HttpEnvironment {
  return {
    openSocket(handlers) {
      const socket = new WebSocket(new URL("/api/socket", location.href.replace(/^http/, "ws")));
      socket.onopen = () => handlers.open();
      socket.onmessage = (event) => handlers.message(event.data);
      // An error event carries no cause and a close event always follows it.
      socket.onclose = () => handlers.close();
      return socket;
    },
    checkAccess: async () => (await fetch("/api/access", { credentials: "same-origin" })).status !== 401,
    setTimer(run, milliseconds) {
      const timer = setTimeout(run, milliseconds);
      return () => clearTimeout(timer);
    },
  };
}
