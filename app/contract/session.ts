import { z } from "zod";
import { idSchema, messageSchema, timestampSchema } from "./message.ts";

/** A chat's generation options; null = the model's default. */
export const samplingOptionsSchema = z.object({
  temperature: z.number().min(0).max(5).nullable(),
  topK: z.number().int().min(0).max(1_000_000).nullable(),
  topP: z.number().gt(0).max(1).nullable(),
  minP: z.number().min(0).max(1).nullable(),
  seed: z.number().int().min(0).max(4_294_967_295).nullable(),
  maxTokens: z.number().int().min(1).nullable(),
});

export const sessionSchema = z.object({
  id: idSchema,
  title: z.string(),
  /** True once the user has named it; an automatic title then no longer replaces it. */
  titled: z.boolean(),
  createdAt: timestampSchema,
  updatedAt: timestampSchema,
  pinned: z.boolean(),
  system: z.string(),
  modelId: idSchema.nullable(),
  sampling: samplingOptionsSchema,
  /** Message at the tip of the branch that is shown; null in an empty chat. */
  headId: idSchema.nullable(),
  messageCount: z.number().int().nonnegative(),
});

/** Every message of the session in creation order; children are derived from `parentId`. */
export const sessionDocumentSchema = z.object({ session: sessionSchema, messages: z.array(messageSchema) });

export const searchHitSchema = z.object({
  sessionId: idSchema,
  sessionTitle: z.string(),
  /** null when the title matched. */
  messageId: idSchema.nullable(),
  /** Plain text around the match. */
  snippet: z.string(),
  /** Ranges [start, end) of the matches in `snippet`, UTF-16 units. */
  matches: z.array(z.tuple([z.number().int(), z.number().int()])),
  updatedAt: timestampSchema,
});

export type SamplingOptions = z.infer<typeof samplingOptionsSchema>;
export type Session = z.infer<typeof sessionSchema>;
export type SessionDocument = z.infer<typeof sessionDocumentSchema>;
export type SearchHit = z.infer<typeof searchHitSchema>;
