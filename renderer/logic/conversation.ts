import type { Message } from "../../app/contract/message.ts";
import { createTree, type Tree } from "../../app/session/tree.ts";

export interface ConversationRow {
  message: Message;
  /** All messages with the same parent, oldest first; the row's own is at `index`. */
  siblings: readonly Message[];
  index: number;
}

function inOrder(messages: ReadonlyMap<string, Message>): Message[] {
  return [...messages.values()].sort((a, b) => a.createdAt - b.createdAt);
}

function tipOf(tree: Tree<Message>, ordered: readonly Message[], headId: string | null): string | undefined {
  if (headId !== null && tree.get(headId)) return headId;
  const newest = ordered[ordered.length - 1];
  return newest && tree.newestLeaf(newest.id);
}

/** The rows from the first message to `headId`. A head that is not there shows the newest branch rather than nothing. */
export function conversation(messages: ReadonlyMap<string, Message>, headId: string | null): ConversationRow[] {
  const ordered = inOrder(messages);
  const tree = createTree(ordered);
  const tip = tipOf(tree, ordered, headId);
  if (tip === undefined) return [];
  return tree
    .pathTo(tip)
    .filter((message) => message.role !== "system")
    .map((message) => {
      const siblings = tree.siblings(message.id);
      return { message, siblings, index: siblings.indexOf(message) };
    });
}

/** Messages that nothing follows: the ends of all branches. */
export function branchCount(messages: ReadonlyMap<string, Message>): number {
  const parents = new Set<string | null>();
  for (const message of messages.values()) parents.add(message.parentId);
  let ends = 0;
  for (const id of messages.keys()) if (!parents.has(id)) ends += 1;
  return ends;
}

/** What copying a message gives: its text blocks, without the reasoning. */
export function messageText(message: Pick<Message, "blocks">): string {
  return message.blocks
    .filter((block) => block.type === "text")
    .map((block) => block.text)
    .join("");
}
