/**
 * Rows as contract objects. Reading is tolerant: a missing, null or foreign value in a row becomes a sensible one, so that one bad field never
 * keeps a chat from opening.
 */

import { wireErrorSchema } from "../../app/contract/error.ts";
import {
  type Block,
  type Message,
  type MessageStats,
  messageSchema,
  messageStatsSchema,
  responseFormatSchema,
} from "../../app/contract/message.ts";
import { noSampling, type SamplingOptions, type Session, samplingOptionsSchema } from "../../app/contract/session.ts";
import type { WireError } from "../../app/error.ts";

export interface SessionRow {
  id: string;
  title: unknown;
  titled: unknown;
  created_at: unknown;
  updated_at: unknown;
  pinned: unknown;
  system: unknown;
  model_id: unknown;
  sampling: unknown;
  head: unknown;
  message_count: unknown;
}

export interface MessageRow {
  number: number;
  id: string;
  session: string;
  parent: unknown;
  role: unknown;
  status: unknown;
  error: unknown;
  created_at: unknown;
  model_id: unknown;
  model_name: unknown;
  stats: unknown;
  format: unknown;
}

/** A block with its text already put together. */
export interface BlockRow {
  type: unknown;
  attributes: unknown;
  text: string;
}

export function toSession(row: SessionRow): Session {
  const createdAt = toCount(row.created_at);
  return {
    id: row.id,
    title: toText(row.title),
    titled: Boolean(row.titled),
    createdAt,
    updatedAt: toCount(row.updated_at, createdAt),
    pinned: Boolean(row.pinned),
    system: toText(row.system),
    modelId: toId(row.model_id),
    sampling: toSampling(row.sampling),
    headId: toId(row.head),
    messageCount: toCount(row.message_count),
  };
}

export function toMessage(row: MessageRow, blocks: BlockRow[]): Message {
  const status = messageSchema.shape.status.safeParse(row.status);
  const role = messageSchema.shape.role.safeParse(row.role);
  return {
    id: row.id,
    sessionId: row.session,
    parentId: toId(row.parent),
    role: role.success ? role.data : "assistant",
    blocks: blocks.map(toBlock),
    status: status.success ? status.data : "complete",
    error: toError(row.error),
    createdAt: toCount(row.created_at),
    modelId: toId(row.model_id),
    modelName: typeof row.model_name === "string" ? row.model_name : null,
    stats: toStats(row.stats),
    ...toFormat(row.format),
  };
}

/** A type that this version does not know is shown as text. */
function toBlock(row: BlockRow): Block {
  if (row.type !== "reasoning") return { type: "text", text: row.text };
  const attributes = toRecord(row.attributes);
  return {
    type: "reasoning",
    text: row.text,
    finished: attributes?.finished === true,
    milliseconds: toNumberOrNull(attributes?.milliseconds),
    tokens: toNumberOrNull(attributes?.tokens, true),
  };
}

function toSampling(value: unknown): SamplingOptions {
  const record = toRecord(value);
  if (record === null) return { ...noSampling };
  const read = Object.entries(samplingOptionsSchema.shape).map(([name, schema]) => {
    const parsed = schema.safeParse(record[name]);
    return [name, parsed.success ? parsed.data : null];
  });
  return Object.fromEntries(read) as SamplingOptions;
}

function toFormat(value: unknown): Pick<Message, "responseFormat"> {
  const parsed = responseFormatSchema.safeParse(toRecord(value));
  return parsed.success ? { responseFormat: parsed.data } : {};
}

function toStats(value: unknown): MessageStats | null {
  const record = toRecord(value);
  if (record === null) return null;
  const read = (key: string): number => toNumberOrNull(record[key]) ?? 0;
  const stats: MessageStats = {
    promptTokens: toCount(record.promptTokens),
    reused: toCount(record.reused),
    recomputed: toCount(record.recomputed),
    generatedTokens: toCount(record.generatedTokens),
    prefillMilliseconds: read("prefillMilliseconds"),
    decodeMilliseconds: read("decodeMilliseconds"),
    firstTokenMilliseconds: read("firstTokenMilliseconds"),
    tokensPerSecond: read("tokensPerSecond"),
    seed: toCount(record.seed),
  };
  return messageStatsSchema.safeParse(stats).success ? stats : null;
}

function toError(value: unknown): WireError | null {
  const record = toRecord(value);
  if (record === null) return null;
  const parsed = wireErrorSchema.safeParse(record);
  if (parsed.success) return parsed.data;
  return {
    code: "internal",
    message: toText(record.message) || "Unknown error",
    hint: toText(record.hint),
    detail: {},
  };
}

function toRecord(value: unknown): Record<string, unknown> | null {
  if (typeof value !== "string") return null;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function toId(value: unknown): string | null {
  return typeof value === "string" && value.length > 0 && value.length <= 64 ? value : null;
}

export function toCount(value: unknown, otherwise = 0): number {
  const whole = typeof value === "number" ? Math.trunc(value) : -1;
  return Number.isSafeInteger(whole) && whole >= 0 ? whole : otherwise;
}

function toNumberOrNull(value: unknown, integer = false): number | null {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return null;
  return integer ? toCount(value) : value;
}
