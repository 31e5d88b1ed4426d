import { z } from "zod";
import { wireErrorSchema } from "./error.ts";

/** Milliseconds since the epoch. */
export const timestampSchema = z.number().int().nonnegative();
export const idSchema = z.string().min(1).max(64);

export const textBlockSchema = z.object({ type: z.literal("text"), text: z.string() });

export const reasoningBlockSchema = z.object({
  type: z.literal("reasoning"),
  text: z.string(),
  /** False while it streams, and for ever when the reply ended inside it. */
  finished: z.boolean(),
  milliseconds: z.number().nonnegative().nullable(),
  tokens: z.number().int().nonnegative().nullable(),
});

export const blockSchema = z.discriminatedUnion("type", [textBlockSchema, reasoningBlockSchema]);

export const messageStatusSchema = z.enum([
  "complete",
  "streaming",
  /** Ended by the user. */
  "stopped",
  /** Ended by the token limit or the context's end; may be continued. */
  "length",
  /** The app or the engine died while it streamed; may be continued. */
  "interrupted",
  "failed",
]);

export const messageStatsSchema = z.object({
  promptTokens: z.number().int().nonnegative(),
  reused: z.number().int().nonnegative(),
  recomputed: z.number().int().nonnegative(),
  generatedTokens: z.number().int().nonnegative(),
  prefillMilliseconds: z.number().nonnegative(),
  decodeMilliseconds: z.number().nonnegative(),
  firstTokenMilliseconds: z.number().nonnegative(),
  tokensPerSecond: z.number().nonnegative(),
  seed: z.number().int().nonnegative(),
});

/** What a reply has to match: GrammarSource of app/engine.ts. */
export const responseFormatSchema = z
  .object({ kind: z.enum(["json", "json_schema", "regex", "ebnf"]), source: z.string().max(1_000_000) })
  .strict();

export const messageSchema = z.object({
  id: idSchema,
  sessionId: idSchema,
  parentId: idSchema.nullable(),
  role: z.enum(["system", "user", "assistant"]),
  blocks: z.array(blockSchema),
  status: messageStatusSchema,
  error: wireErrorSchema.nullable(),
  createdAt: timestampSchema,
  /** Of an assistant message: the model that wrote it. */
  modelId: idSchema.nullable(),
  modelName: z.string().nullable(),
  stats: messageStatsSchema.nullable(),
  /** Of a reply: what it was held to. Of a question: what its replies are. Absent: nothing. */
  responseFormat: responseFormatSchema.optional(),
});

export type Block = z.infer<typeof blockSchema>;
export type Message = z.infer<typeof messageSchema>;
export type ResponseFormat = z.infer<typeof responseFormatSchema>;
export type MessageStatus = z.infer<typeof messageStatusSchema>;
export type MessageStats = z.infer<typeof messageStatsSchema>;
