/** The page as one object: the client and the three scopes of state. Commands get it whole, views through the hooks of view/page.ts. */
import type { Client } from "../../app/contract/client.ts";
import type { Message } from "../../app/contract/message.ts";
import { toWire } from "../../app/error.ts";
import { createDocumentStore, type DocumentStore } from "./document.ts";
import { createLiveStore, type LiveStore } from "./live.ts";
import { addToast, createUiStore, type UiStore } from "./ui.ts";

export interface Page {
  client: Client;
  document: DocumentStore;
  live: LiveStore;
  ui: UiStore;
  mac: boolean;
  /** Sessions that are being read now, with the messages that changed meanwhile. */
  opening: Map<string, { reading: Promise<void>; arrived: Message[] }>;
}

export interface PageOptions {
  client: Client;
  sessionId: string | null;
  mac: boolean;
  schedule(flush: () => void): void;
  clock(): number;
}

export function createPage({ client, sessionId, mac, schedule, clock }: PageOptions): Page {
  return {
    client,
    document: createDocumentStore(),
    live: createLiveStore({ schedule, clock }),
    ui: createUiStore(sessionId),
    mac,
    opening: new Map(),
  };
}

/** Shows a failure that has no place of its own. */
export function report(page: Page, error: unknown): void {
  const { message, hint } = toWire(error);
  addToast(page.ui, { level: "error", message, hint, action: null });
}
