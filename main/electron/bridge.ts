/** What the preload script gives to the page. It only carries; names and payloads are checked in main, which trusts no page. */
import type { Bridge, CallResult } from "../../app/contract/channel.ts";

export const callChannel = "halogen:call";
export const eventChannel = "halogen:event";

/** The part of Electron's ipcRenderer that is used. */
export interface RendererSide {
  invoke(channel: string, ...values: unknown[]): Promise<unknown>;
  on(channel: string, listener: (event: unknown, ...values: unknown[]) => void): unknown;
  removeListener(channel: string, listener: (event: unknown, ...values: unknown[]) => void): unknown;
}

export function createBridge(ipc: RendererSide): Bridge {
  return {
    call: (name, request) => ipc.invoke(callChannel, name, request) as Promise<CallResult>,
    on(listener) {
      // Electron's event object stays here: it holds the sender, which the page must not get.
      const forward = (_event: unknown, value: unknown) => listener(value);
      ipc.on(eventChannel, forward);
      return () => void ipc.removeListener(eventChannel, forward);
    },
  };
}
