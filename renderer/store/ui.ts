/** What belongs to this window alone and is never stored by main. */
import { createStore, type StoreApi } from "zustand/vanilla";
import type { ResponseFormat } from "../../app/contract/message.ts";
import { noSampling, type SamplingOptions, type SearchHit } from "../../app/contract/session.ts";

/** Text too long for the text field; sent after what was typed. */
export interface Attachment {
  id: number;
  text: string;
  lines: number;
}

export interface Draft {
  text: string;
  attachments: readonly Attachment[];
}

/** Choices for a chat that does not exist yet. */
export interface NewChat {
  modelId: string | null;
  system: string;
  sampling: SamplingOptions;
}

export interface Toast {
  id: number;
  level: "info" | "warning" | "error";
  message: string;
  hint: string;
  action: { label: string; run: () => void } | null;
}

export interface UiState {
  /** null = a new chat, which is stored with its first message. */
  sessionId: string | null;
  newChat: NewChat;
  /** By session id; "" is the new chat's. */
  drafts: ReadonlyMap<string, Draft>;
  /** What replies are to be held to from now on, by session id as the drafts; null = to nothing. A chat that is not here goes on as before. */
  formats: ReadonlyMap<string, ResponseFormat | null>;
  editingId: string | null;
  renamingId: string | null;
  query: string;
  /** Of the last query that was answered; null while none was asked. */
  hits: readonly SearchHit[] | null;
  /** A message to scroll to and mark, once. */
  target: { messageId: string; serial: number } | null;
  sidebar: boolean;
  /** The one popover or dialog that is open. */
  open: "model" | "sampling" | "system" | "format" | "settings" | null;
  toasts: readonly Toast[];
  /** Spoken politely by a screen reader. */
  announcement: string;
  /** Restarts whose notice was closed. */
  restartsSeen: number;
  /** Raised to ask the conversation to go to its end, and the composer to take the focus. */
  followSerial: number;
  focusSerial: number;
}

export type UiStore = StoreApi<UiState>;

export const emptyDraft: Draft = { text: "", attachments: [] };
export const emptyNewChat: NewChat = { modelId: null, system: "", sampling: noSampling };

export function createUiStore(sessionId: string | null): UiStore {
  return createStore<UiState>(() => ({
    sessionId,
    newChat: emptyNewChat,
    drafts: new Map(),
    formats: new Map(),
    editingId: null,
    renamingId: null,
    query: "",
    hits: null,
    target: null,
    sidebar: true,
    open: null,
    toasts: [],
    announcement: "",
    restartsSeen: 0,
    followSerial: 0,
    focusSerial: 0,
  }));
}

let nextId = 1;

export function serial(): number {
  return nextId++;
}

export function addToast(ui: UiStore, toast: Omit<Toast, "id">): void {
  const same = (other: Toast) => other.message === toast.message && other.hint === toast.hint;
  ui.setState((state) => ({
    toasts: [...state.toasts.filter((other) => !same(other)), { ...toast, id: serial() }].slice(-4),
  }));
}

export function dropToast(ui: UiStore, id: number): void {
  ui.setState((state) => ({ toasts: state.toasts.filter((toast) => toast.id !== id) }));
}

export function draftOf(state: UiState): Draft {
  return state.drafts.get(state.sessionId ?? "") ?? emptyDraft;
}

export function setDraft(ui: UiStore, sessionId: string | null, draft: Draft): void {
  ui.setState((state) => {
    const drafts = new Map(state.drafts);
    if (draft.text === "" && draft.attachments.length === 0) drafts.delete(sessionId ?? "");
    else drafts.set(sessionId ?? "", draft);
    return { drafts };
  });
}

export function setFormat(ui: UiStore, sessionId: string | null, format: ResponseFormat | null): void {
  ui.setState((state) => ({ formats: new Map(state.formats).set(sessionId ?? "", format) }));
}
