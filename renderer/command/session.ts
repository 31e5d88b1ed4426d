import { noSampling, type SamplingOptions, type SearchHit, type Session } from "../../app/contract/session.ts";
import { withEntry } from "../store/document.ts";
import { openSession } from "../store/mirror.ts";
import type { Page } from "../store/page.ts";
import { addToast, emptyNewChat, serial } from "../store/ui.ts";
import { attempt, type Command } from "./command.ts";

export function currentSession(page: Page): Session | null {
  const { sessionId } = page.ui.getState();
  return sessionId === null ? null : (page.document.getState().sessions.get(sessionId) ?? null);
}

export function showSession(page: Page, sessionId: string): Promise<void> {
  page.ui.setState({ sessionId, editingId: null, target: null, focusSerial: serial() });
  return page.document.getState().messages.has(sessionId) ? Promise.resolve() : openSession(page, sessionId);
}

export const newChat: Command = {
  id: "session.new",
  label: "New chat",
  keys: ["Mod+N", "Alt+N"],
  enabled: () => true,
  run(page) {
    page.ui.setState({ sessionId: null, editingId: null, target: null, newChat: emptyNewChat, focusSerial: serial() });
  },
};

export async function renameSession(page: Page, sessionId: string, title: string): Promise<void> {
  page.ui.setState({ renamingId: null });
  const before = page.document.getState().sessions.get(sessionId)?.title;
  const trimmed = title.trim().slice(0, 200);
  if (trimmed === "" || trimmed === before) return;
  putSession(page, await page.client.call("session.update", { sessionId, title: trimmed }));
}

export async function pinSession(page: Page, session: Session): Promise<void> {
  putSession(page, await page.client.call("session.update", { sessionId: session.id, pinned: !session.pinned }));
}

/** Deletes at once and offers to undo, instead of asking first. */
export async function deleteSession(page: Page, session: Session): Promise<void> {
  await page.client.call("session.delete", { sessionId: session.id });
  const wasShown = page.ui.getState().sessionId === session.id;
  if (wasShown) await newChat.run(page);
  addToast(page.ui, {
    level: "info",
    message: `Deleted “${session.title}”`,
    hint: "",
    action: { label: "Undo", run: () => attempt(page, () => restoreSession(page, session.id, wasShown)) },
  });
}

async function restoreSession(page: Page, sessionId: string, show: boolean): Promise<void> {
  putSession(page, await page.client.call("session.restore", { sessionId }));
  if (show) await showSession(page, sessionId);
}

export function putSession(page: Page, session: Session): void {
  page.document.setState((state) => ({ sessions: withEntry(state.sessions, session.id, session) }));
}

/** The system prompt of the shown chat, or of the one about to begin. */
export async function setSystem(page: Page, system: string): Promise<void> {
  const session = currentSession(page);
  if (!session) page.ui.setState((state) => ({ newChat: { ...state.newChat, system } }));
  else if (session.system !== system) {
    putSession(page, await page.client.call("session.update", { sessionId: session.id, system }));
  }
}

export async function setSampling(page: Page, patch: Partial<SamplingOptions>): Promise<void> {
  const session = currentSession(page);
  if (session) putSession(page, await page.client.call("session.update", { sessionId: session.id, sampling: patch }));
  else
    page.ui.setState((state) => ({ newChat: { ...state.newChat, sampling: { ...state.newChat.sampling, ...patch } } }));
}

/** Thinking has a control of its own, and stays. */
export function resetSampling(page: Page): Promise<void> {
  const { thinking: _thinking, effort: _effort, keepThoughts: _keep, ...sampling } = noSampling;
  return setSampling(page, sampling);
}

/** Opens the chat a hit is in, on the branch that holds it, and scrolls there. */
export async function openHit(page: Page, hit: SearchHit): Promise<void> {
  await showSession(page, hit.sessionId);
  const { messageId } = hit;
  if (messageId === null) return;
  putSession(page, await page.client.call("session.select", { sessionId: hit.sessionId, messageId }));
  page.ui.setState({ target: { messageId, serial: serial() } });
}
