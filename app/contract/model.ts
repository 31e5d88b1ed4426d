import { z } from "zod";
import { wireErrorSchema } from "./error.ts";
import { idSchema } from "./message.ts";

export const memoryPlanSchema = z.object({
  contextLength: z.number(),
  kvType: z.enum(["f32", "f16"]),
  weights: z.number(),
  kv: z.number(),
  recurrent: z.number(),
  checkpoints: z.number(),
  scratch: z.number(),
  total: z.number(),
  available: z.number(),
  fits: z.boolean(),
  reason: z.string(),
});

export const modelSchema = z.object({
  id: idSchema,
  name: z.string(),
  fileName: z.string(),
  bytes: z.number().nonnegative(),
  architecture: z.string(),
  format: z.string(),
  parameters: z.number().nonnegative(),
  contextLength: z.number().int().nonnegative(),
  /** `broken`: `error` says what is wrong with the file, and whether the file or this version is at fault. */
  state: z.enum(["available", "loading", "loaded", "broken"]),
  /** 0..1 while loading. */
  progress: z.number().min(0).max(1).nullable(),
  error: wireErrorSchema.nullable(),
  hasTemplate: z.boolean(),
  /** Sampling the model asks for (GGUF hints) or ours. */
  defaults: z.object({ temperature: z.number(), topK: z.number(), topP: z.number(), minP: z.number() }),
  plan: memoryPlanSchema.nullable(),
});

export const downloadSchema = z.object({
  id: idSchema,
  name: z.string(),
  state: z.enum(["queued", "connecting", "downloading", "verifying", "unpacking", "done", "failed", "cancelled"]),
  /** Where it comes from now, in words ("model hub", "Python package index"). */
  source: z.string(),
  received: z.number().nonnegative(),
  total: z.number().nonnegative().nullable(),
  /** Over the last seconds; 0 when it stalls. */
  bytesPerSecond: z.number().nonnegative(),
  error: wireErrorSchema.nullable(),
});

export const catalogueEntrySchema = z.object({
  id: idSchema,
  name: z.string(),
  description: z.string(),
  bytes: z.number().nonnegative(),
  licence: z.string(),
  starter: z.boolean(),
  installed: z.boolean(),
});

export type Model = z.infer<typeof modelSchema>;
export type Download = z.infer<typeof downloadSchema>;
export type CatalogueEntry = z.infer<typeof catalogueEntrySchema>;
