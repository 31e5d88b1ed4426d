/** The page as one object: the client and the three scopes of state. Views and commands get it whole. */
import { createContext, useContext } from "react";
import { useStore } from "zustand";
import type { Client } from "../../app/contract/client.ts";
import type { Message } from "../../app/contract/message.ts";
import { toWire } from "../../app/error.ts";
import { createDocumentStore, type DocumentState, type DocumentStore } from "./document.ts";
import { createLiveStore, type LiveState, type LiveStore } from "./live.ts";
import { addToast, createUiStore, type UiState, type UiStore } from "./ui.ts";

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

const PageContext = createContext<Page | null>(null);
export const PageProvider = PageContext.Provider;

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("usePage outside of a PageProvider");
  return page;
}

export function useDocument<T>(selector: (state: DocumentState) => T): T {
  return useStore(usePage().document, selector);
}

export function useUi<T>(selector: (state: UiState) => T): T {
  return useStore(usePage().ui, selector);
}

export function useLive<T>(selector: (state: LiveState) => T): T {
  return useStore(usePage().live, selector);
}
