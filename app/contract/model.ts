import { z } from "zod";
import { wireErrorSchema } from "./error.ts";
import { idSchema } from "./message.ts";
import { samplingDefaultsSchema } from "./session.ts";

export const memoryPlanSchema = z.object({
  contextLength: z.number(),
  kvType: z.enum(["f32", "f16", "bf16", "q8_0"]),
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

/** Whether the template leaves it to a choice that they stay, and whether they do when nothing is chosen. */
const pastThoughtsSchema = z.object({ choice: z.boolean(), kept: z.boolean() });

/** What a model's chat template offers, found out by rendering it. */
export const chatFeaturesSchema = z.object({
  /** It has a place for system text; else that goes in front of the first question. */
  system: z.boolean(),
  /** It describes tools to the model. */
  tools: z.boolean(),
  /** `none`: no sign of thoughts; `always`: it thinks, and the template cannot switch that off; `switch`: it can. */
  thinking: z.enum(["none", "always", "switch"]),
  /** Whether the model thinks when nothing is chosen. */
  thinks: z.boolean(),
  /** How much it thinks, weakest first. `initial`: the template's own level; null when that is none of them. */
  effort: z.object({ levels: z.array(z.string()), initial: z.string().nullable() }).nullable(),
  /** Thoughts of earlier replies in a prompt, for a model that is to think and for one that is to answer at once. */
  pastThoughts: z.object({ thinking: pastThoughtsSchema, answering: pastThoughtsSchema }),
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
  /** Null until the file has been looked into, and for a template that does not work. */
  features: chatFeaturesSchema.nullable(),
  /** What a chat is sampled with where it says nothing: what the file asks for, else ours. */
  defaults: samplingDefaultsSchema,
  /** Those of `defaults` that the file asks for. */
  hints: z.array(samplingDefaultsSchema.keyof()),
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

export type ChatFeatures = z.infer<typeof chatFeaturesSchema>;
export type Model = z.infer<typeof modelSchema>;
export type Download = z.infer<typeof downloadSchema>;
export type CatalogueEntry = z.infer<typeof catalogueEntrySchema>;
