import type { CallName, Reply } from "../../app/contract/call.ts";
import { messageTextLimit } from "../../app/contract/call.ts";
import type { Message } from "../../app/contract/message.ts";
import { noSampling } from "../../app/contract/session.ts";
import { HalogenError } from "../../app/error.ts";
import { formatCount } from "../../app/number.ts";
import { type ConversationRow, conversation } from "../logic/conversation.ts";
import { checkFormat } from "../logic/format.ts";
import { withEntry } from "../store/document.ts";
import { putMessage } from "../store/mirror.ts";
import type { Page } from "../store/page.ts";
import { addToast, type Draft, draftOf, emptyDraft, serial, setDraft, setFormat } from "../store/ui.ts";
import type { Command } from "./command.ts";
import { chatFormat } from "./format.ts";
import { firstModel } from "./model.ts";
import { currentSession, putSession } from "./session.ts";

type Turn = Reply<Extract<CallName, "chat.send">>;

export function shownRows(page: Page): ConversationRow[] {
  const session = currentSession(page);
  const messages = session && page.document.getState().messages.get(session.id);
  return messages ? conversation(messages, session.headId) : [];
}

/** The reply that streams in the shown chat. */
export function streamingMessage(page: Page): Message | null {
  const last = shownRows(page).at(-1)?.message;
  return last?.status === "streaming" ? last : null;
}

function takeTurn(page: Page, turn: Turn): void {
  const { user, reply } = turn;
  // The reply of a call may come after events of the same message, which then are newer.
  const known = page.document.getState().messages.get(reply.sessionId);
  for (const message of [user, reply]) if (message && !known?.has(message.id)) putMessage(page, message);
  const session = page.document.getState().sessions.get(reply.sessionId);
  if (session && !known?.has(reply.id)) putSession(page, { ...session, headId: reply.id });
}

export function isEmptyDraft(draft: Draft): boolean {
  return draft.attachments.length === 0 && draft.text.trim() === "";
}

function draftText(draft: Draft): string {
  return [draft.text.trim(), ...draft.attachments.map((attachment) => attachment.text)]
    .filter((text) => text !== "")
    .join("\n\n");
}

async function createSession(page: Page): Promise<string> {
  const { newChat } = page.ui.getState();
  const modelId = newChat.modelId ?? firstModel(page)?.id ?? null;
  const session = await page.client.call("session.create", { modelId, system: newChat.system });
  page.document.setState((state) => ({ messages: withEntry(state.messages, session.id, new Map()) }));
  putSession(page, session);
  const sampling = Object.entries(newChat.sampling).some(([, value]) => value !== null) ? newChat.sampling : null;
  if (sampling)
    putSession(
      page,
      await page.client.call("session.update", { sessionId: session.id, sampling: { ...noSampling, ...sampling } }),
    );
  return session.id;
}

export const send: Command = {
  id: "chat.send",
  label: "Send",
  keys: ["Mod+Enter"],
  enabled: (page) =>
    !isEmptyDraft(draftOf(page.ui.getState())) && streamingMessage(page) === null && firstModel(page) !== null,
  async run(page) {
    const draft = draftOf(page.ui.getState());
    const text = draftText(draft);
    if (text.length > messageTextLimit) {
      throw new HalogenError("request.invalid", `This message has ${formatCount(text.length)} characters.`, {
        hint: `At most ${formatCount(messageTextLimit)} fit into one message. Send it in parts.`,
        detail: { characters: text.length, limit: messageTextLimit },
      });
    }
    const shown = page.ui.getState().sessionId;
    const format = chatFormat(page.document.getState(), page.ui.getState());
    if (format !== null) checkFormat(format);
    const parentId = shownRows(page).at(-1)?.message.id ?? null;
    setDraft(page.ui, shown, emptyDraft);
    let sessionId = shown;
    try {
      if (sessionId === null) {
        sessionId = await createSession(page);
        if (page.ui.getState().sessionId === null) page.ui.setState({ sessionId });
        setFormat(page.ui, null, null);
        setFormat(page.ui, sessionId, format);
      }
      const held = format === null ? {} : { responseFormat: format };
      takeTurn(page, await page.client.call("chat.send", { sessionId, parentId, text, ...held }));
      page.ui.setState({ followSerial: serial() });
    } catch (error) {
      // What was written is worth more than an empty field.
      setDraft(page.ui, sessionId, draft);
      throw error;
    }
  },
};

export async function regenerate(page: Page, message: Message): Promise<void> {
  takeTurn(page, await page.client.call("chat.regenerate", { sessionId: message.sessionId, messageId: message.id }));
  page.ui.setState({ followSerial: serial() });
}

export async function continueReply(page: Page, message: Message): Promise<void> {
  const { sessionId, id: messageId } = message;
  const turn = await page.client.call("chat.continue", { sessionId, messageId });
  if (page.document.getState().messages.get(sessionId)?.get(messageId)?.status !== "streaming")
    putMessage(page, turn.reply);
  page.ui.setState({ followSerial: serial() });
}

export async function editMessage(page: Page, message: Message, text: string): Promise<void> {
  takeTurn(page, await page.client.call("chat.edit", { sessionId: message.sessionId, messageId: message.id, text }));
  page.ui.setState({ editingId: null, followSerial: serial() });
}

/** Shows the version `step` further among the siblings of a row. */
export async function showVersion(page: Page, row: ConversationRow, step: number): Promise<void> {
  const sibling = row.siblings[row.index + step];
  if (!sibling) return;
  putSession(page, await page.client.call("session.select", { sessionId: sibling.sessionId, messageId: sibling.id }));
}

export async function copyText(page: Page, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch (error) {
    addToast(page.ui, { level: "error", message: "Copying was refused.", hint: String(error), action: null });
    return;
  }
  page.ui.setState({ announcement: "Copied." });
}

function lastReply(page: Page): Message | null {
  const message = shownRows(page).at(-1)?.message;
  return message?.role === "assistant" && message.status !== "streaming" ? message : null;
}

export const stop: Command = {
  id: "chat.stop",
  label: "Stop",
  keys: [],
  enabled: (page) => streamingMessage(page) !== null,
  async run(page) {
    const session = currentSession(page);
    if (session) await page.client.call("chat.stop", { sessionId: session.id });
  },
};

export const regenerateLast: Command = {
  id: "chat.regenerate",
  label: "Regenerate the last reply",
  keys: ["Mod+Shift+Enter"],
  enabled: (page) => lastReply(page) !== null,
  async run(page) {
    const message = lastReply(page);
    if (message) await regenerate(page, message);
  },
};

function lastUserRow(page: Page): ConversationRow | undefined {
  return shownRows(page)
    .reverse()
    .find((row) => row.message.role === "user");
}

export const editLast: Command = {
  id: "chat.edit",
  label: "Edit the last message",
  keys: ["Mod+Shift+E"],
  enabled: (page) => lastUserRow(page) !== undefined && streamingMessage(page) === null,
  run(page) {
    const row = lastUserRow(page);
    if (row) page.ui.setState({ editingId: row.message.id });
  },
};

function stepCommand(id: string, label: string, key: string, step: number): Command {
  /** The last message that has a version in that direction. */
  const target = (page: Page) =>
    shownRows(page)
      .reverse()
      .find((row) => row.siblings[row.index + step] !== undefined);
  return {
    id,
    label,
    keys: [key],
    enabled: (page) => streamingMessage(page) === null && target(page) !== undefined,
    async run(page) {
      const row = target(page);
      if (row) await showVersion(page, row, step);
    },
  };
}

export const previousVersion = stepCommand("chat.previous", "Previous version", "Alt+ArrowLeft", -1);
export const nextVersion = stepCommand("chat.next", "Next version", "Alt+ArrowRight", 1);
