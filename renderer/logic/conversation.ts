import type { Message } from "../../app/contract/message.ts";

export interface ConversationRow {
  message: Message;
  /** All messages with the same parent, oldest first; the row's own is at `index`. */
  siblings: readonly Message[];
  index: number;
}

/** Children are derived from parents alone, so no stored child list can lose a branch. */
export function childrenByParent(messages: Iterable<Message>): Map<string | null, Message[]> {
  const children = new Map<string | null, Message[]>();
  for (const message of messages) {
    const list = children.get(message.parentId);
    if (list) list.push(message);
    else children.set(message.parentId, [message]);
  }
  for (const list of children.values()) list.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  return children;
}

/** The rows from the first message to `headId`. A head that is not there shows the newest branch rather than nothing. */
export function conversation(messages: ReadonlyMap<string, Message>, headId: string | null): ConversationRow[] {
  const children = childrenByParent(messages.values());
  const tip = (headId === null ? undefined : messages.get(headId)) ?? newestLeaf(children, null);
  const rows: ConversationRow[] = [];
  const seen = new Set<string>();
  for (let message = tip; message && !seen.has(message.id); ) {
    seen.add(message.id);
    const siblings = children.get(message.parentId) ?? [message];
    rows.push({ message, siblings, index: siblings.indexOf(message) });
    message = message.parentId === null ? undefined : messages.get(message.parentId);
  }
  rows.reverse();
  return rows.filter((row) => row.message.role !== "system");
}

function newestLeaf(children: Map<string | null, Message[]>, parentId: string | null): Message | undefined {
  let leaf = children.get(parentId)?.at(-1);
  for (let next = leaf; next; next = children.get(next.id)?.at(-1)) leaf = next;
  return leaf;
}

/** What copying a message gives: its text blocks, without the reasoning. */
export function messageText(message: Pick<Message, "blocks">): string {
  return message.blocks
    .filter((block) => block.type === "text")
    .map((block) => block.text)
    .join("");
}
