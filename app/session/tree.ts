/**
 * The message tree, derived from `parentId` alone: there is no stored list of children that could disagree with it. Messages come in creation
 * order. A message whose parent is missing counts as a first message, so nothing that is stored can ever become unreachable.
 */
import type { Message } from "../contract/message.ts";

export type Node = Pick<Message, "id" | "parentId">;

export interface Tree<T extends Node> {
  get(id: string): T | undefined;
  /** In creation order; of null, the first messages. */
  children(id: string | null): readonly T[];
  /** Null for a first message, also for an orphan and for one that lies on a cycle of damaged parents. */
  parent(id: string): T | null;
  /** From the root down to this message; empty when there is none. */
  pathTo(id: string): T[];
  /** The message itself and its alternatives, in creation order. */
  siblings(id: string): readonly T[];
  /** The leaf below (or at) this message that was made last. */
  newestLeaf(id: string): string;
  /** What to show when this message and all below it go: the branch of the newest sibling, else the parent; null when nothing is left. */
  headAfterDelete(id: string): string | null;
}

export function createTree<T extends Node>(messages: readonly T[]): Tree<T> {
  const byId = new Map<string, T>();
  const order = new Map<string, number>();
  messages.forEach((message, index) => {
    byId.set(message.id, message);
    order.set(message.id, index);
  });
  const looped = findLoops(messages, byId);
  const parentOf = (message: T): T | null =>
    message.parentId === null || looped.has(message.id) ? null : (byId.get(message.parentId) ?? null);
  const children = new Map<string | null, T[]>();
  for (const message of messages) {
    const key = parentOf(message)?.id ?? null;
    const list = children.get(key);
    if (list === undefined) children.set(key, [message]);
    else list.push(message);
  }
  const childrenOf = (id: string | null): readonly T[] => children.get(id) ?? [];

  const newestLeaf = (id: string): string => {
    let best = id;
    let bestOrder = -1;
    const open = [id];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const below = childrenOf(at);
      for (const child of below) open.push(child.id);
      const made = order.get(at) ?? -1;
      if (below.length === 0 && made > bestOrder) {
        best = at;
        bestOrder = made;
      }
    }
    return best;
  };

  return {
    get: (id) => byId.get(id),
    children: childrenOf,
    parent: (id) => {
      const message = byId.get(id);
      return message === undefined ? null : parentOf(message);
    },
    pathTo: (id) => {
      const path: T[] = [];
      for (let at = byId.get(id) ?? null; at !== null; at = parentOf(at)) path.push(at);
      return path.reverse();
    },
    siblings: (id) => {
      const message = byId.get(id);
      return message === undefined ? [] : childrenOf(parentOf(message)?.id ?? null);
    },
    newestLeaf,
    headAfterDelete: (id) => {
      const message = byId.get(id);
      if (message === undefined) return null;
      const parent = parentOf(message);
      const others = childrenOf(parent?.id ?? null).filter((other) => other.id !== id);
      const newest = others[others.length - 1];
      return newest === undefined ? (parent?.id ?? null) : newestLeaf(newest.id);
    },
  };
}

/** One message of each cycle, where it is cut: the one that was made first. */
function findLoops<T extends Node>(messages: readonly T[], byId: ReadonlyMap<string, T>): Set<string> {
  const cut = new Set<string>();
  const safe = new Set<string>();
  for (const start of messages) {
    const walked: string[] = [];
    const seen = new Set<string>();
    let at: T | undefined = start;
    while (at !== undefined && !safe.has(at.id) && !cut.has(at.id) && !seen.has(at.id)) {
      seen.add(at.id);
      walked.push(at.id);
      at = at.parentId === null ? undefined : byId.get(at.parentId);
    }
    if (at !== undefined && seen.has(at.id)) {
      const cycle = new Set(walked.slice(walked.indexOf(at.id)));
      const first = messages.find((message) => cycle.has(message.id));
      if (first !== undefined) cut.add(first.id);
    }
    for (const id of walked) safe.add(id);
  }
  return cut;
}
