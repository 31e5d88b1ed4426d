/** The page's mirror of main's state. Written by mirror.ts alone; views only read it. */
import { createStore, type StoreApi } from "zustand/vanilla";
import type { ConnectionState } from "../../app/contract/client.ts";
import type { EngineStatus } from "../../app/contract/engine.ts";
import type { Message } from "../../app/contract/message.ts";
import type { CatalogueEntry, Download, Model } from "../../app/contract/model.ts";
import type { Session } from "../../app/contract/session.ts";
import type { AppInfo, Settings } from "../../app/contract/setting.ts";

export interface DocumentState {
  connection: "connecting" | ConnectionState;
  /** True once everything below was read for the first time. */
  ready: boolean;
  info: AppInfo | null;
  settings: Settings | null;
  sessions: ReadonlyMap<string, Session>;
  /** Messages of the sessions that were opened, by session, then by message. */
  messages: ReadonlyMap<string, ReadonlyMap<string, Message>>;
  models: ReadonlyMap<string, Model>;
  catalogue: readonly CatalogueEntry[];
  downloads: ReadonlyMap<string, Download>;
  engine: EngineStatus | null;
}

export type DocumentStore = StoreApi<DocumentState>;

export function createDocumentStore(): DocumentStore {
  return createStore<DocumentState>(() => ({
    connection: "connecting",
    ready: false,
    info: null,
    settings: null,
    sessions: new Map(),
    messages: new Map(),
    models: new Map(),
    catalogue: [],
    downloads: new Map(),
    engine: null,
  }));
}

export function withEntry<K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> {
  return new Map(map).set(key, value);
}

export function withoutEntry<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  const next = new Map(map);
  next.delete(key);
  return next;
}
