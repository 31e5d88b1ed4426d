/**
 * The store as the rest of main sees it. Everything is synchronous. A write that has returned survives kill -9; a moment later, when a worker
 * thread has synced it, also a power failure.
 * Faults are HalogenErrors: session.not_found, message.not_found, request.invalid and the store.* family.
 */
import type { Message } from "../../app/contract/message.ts";
import type { SearchHit, Session, SessionDocument } from "../../app/contract/session.ts";

/** Milliseconds since the epoch. */
export type Clock = () => number;

export type NewSession = Pick<Session, "id" | "title" | "system" | "modelId"> &
  Partial<Pick<Session, "titled" | "pinned" | "sampling">>;

/** Fields that a caller may change; an absent one stays. `touch` also moves `updatedAt` to now. */
export type SessionPatch = Partial<Pick<Session, "title" | "titled" | "pinned" | "system" | "modelId" | "sampling">> & {
  touch?: boolean;
};

export interface Reads {
  /** Pinned first, then the one used last first. Without deleted ones. */
  listSessions(): Session[];
  /** Null when there is none or it is deleted. */
  session(sessionId: string): Session | null;
  /** Messages in creation order. Null when there is none or it is deleted. */
  document(sessionId: string): SessionDocument | null;
  message(messageId: string): Message | null;
  /** From the root down to this message. Throws message.not_found. */
  pathTo(messageId: string): Message[];
  /** Titles first, then messages, newest first in both. `limit` is 50 unless given. */
  search(query: string, limit?: number): SearchHit[];
  /** Any JSON value that was set; undefined when there is none. */
  setting(key: string): unknown;
  /** Messages with status `interrupted`, newest first. */
  interrupted(): Message[];
}

export interface Writes {
  createSession(session: NewSession): Session;
  updateSession(sessionId: string, patch: SessionPatch): Session;
  /** The session is hidden and can be restored until it is pruned, which happens at the next start. */
  deleteSession(sessionId: string): void;
  restoreSession(sessionId: string): Session;
  /** Removes for good what was deleted before `deletedBefore`; returns how many sessions. */
  prune(deletedBefore: number): number;
  /** The parent must be in the same session. `head: true` also shows the branch that ends in it. */
  addMessage(message: Message, options?: { head?: boolean }): void;
  /**
   * Brings the stored message to this state. Cheap while it streams: only text that was added is written. Id, session, parent, role and
   * createdAt never change.
   */
  updateMessage(message: Message): void;
  /** Shows the branch that ends in this message. */
  setHead(sessionId: string, messageId: string): Session;
  /** `value` must be representable in JSON; undefined removes the key. */
  setSetting(key: string, value: unknown): void;
  /** Called once at start: what is still `streaming` becomes `interrupted`. Returns these messages as they are now. */
  markInterrupted(): Message[];
}

export interface Store extends Reads, Writes {
  /** The database file. */
  readonly path: string;
  /** Idempotent. */
  close(): void;
}

export interface StoreOptions {
  path: string;
  clock: Clock;
  /** Another build of better-sqlite3's addon, for a host that cannot load the packaged one. */
  nativeBinding?: string | undefined;
  /** How long to wait for another process that holds the database; 2000 ms unless given. */
  lockMilliseconds?: number | undefined;
  /** Told once when the disk refuses to keep what was written. */
  report?: ((error: unknown) => void) | undefined;
}
