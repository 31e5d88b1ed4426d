import { z } from "zod";
import { samplerNames } from "../engine.ts";
import { idSchema, messageSchema, timestampSchema } from "./message.ts";

/** A chat's generation options; null = the model's default. */
const share = z.number().min(0).max(1);
const part = z.number().gt(0).max(1);
const window = z.number().int().min(-1).max(10_000_000);
export const tokenIdSchema = z.number().int().min(0).max(2_147_483_647);
/** A token by its number, or all those that a text becomes with the chat's model. */
export const tokenChoiceSchema = z.union([tokenIdSchema, z.string().min(1).max(100)]);
const order = z
  .array(z.enum(samplerNames))
  .min(1)
  .refine((names) => new Set(names).size === names.length, "different names");

/** The numbers of a chain of samplers, as app/engine.ts defines them. */
export const samplingNumbersSchema = z.object({
  temperature: z.number().min(0).max(5),
  temperatureRange: z.number().min(0).max(5),
  temperatureExponent: z.number().gt(0).max(10),
  topK: z.number().int().min(0).max(1_000_000),
  topP: part,
  minP: share,
  typicalP: part,
  topNSigma: z.number().min(0).max(100),
  xtcProbability: share,
  xtcThreshold: share,
  repetitionPenalty: z.number().gt(0).max(10),
  presencePenalty: z.number().min(-10).max(10),
  frequencyPenalty: z.number().min(-10).max(10),
  penaltyLastN: window,
  dryMultiplier: z.number().min(0).max(100),
  dryBase: z.number().min(1).max(100),
  dryAllowedLength: z.number().int().min(0).max(1_000_000),
  dryLastN: window,
});

/** What a model is sampled with where its chat says nothing. */
export const samplingDefaultsSchema = samplingNumbersSchema.extend({ order });

const numbers = samplingNumbersSchema.shape;

export const samplingOptionsSchema = z.object({
  temperature: numbers.temperature.nullable(),
  temperatureRange: numbers.temperatureRange.nullable(),
  temperatureExponent: numbers.temperatureExponent.nullable(),
  topK: numbers.topK.nullable(),
  topP: numbers.topP.nullable(),
  minP: numbers.minP.nullable(),
  typicalP: numbers.typicalP.nullable(),
  topNSigma: numbers.topNSigma.nullable(),
  xtcProbability: numbers.xtcProbability.nullable(),
  xtcThreshold: numbers.xtcThreshold.nullable(),
  repetitionPenalty: numbers.repetitionPenalty.nullable(),
  presencePenalty: numbers.presencePenalty.nullable(),
  frequencyPenalty: numbers.frequencyPenalty.nullable(),
  penaltyLastN: numbers.penaltyLastN.nullable(),
  dryMultiplier: numbers.dryMultiplier.nullable(),
  dryBase: numbers.dryBase.nullable(),
  dryAllowedLength: numbers.dryAllowedLength.nullable(),
  dryLastN: numbers.dryLastN.nullable(),
  /** Texts that no repetition reaches over; null = `usualBreakers`. */
  dryBreakers: z.array(z.string().min(1).max(100)).max(100).nullable(),
  logitBias: z
    .array(z.object({ token: tokenChoiceSchema, bias: z.number().min(-1000).max(1000) }))
    .max(10_000)
    .nullable(),
  /** Tokens that never come. */
  suppress: z.array(tokenChoiceSchema).max(10_000).nullable(),
  order: order.nullable(),
  /** Texts that end a reply, beside those of the model. */
  stop: z.array(z.string().min(1).max(1000)).max(100).nullable(),
  seed: z.number().int().min(0).max(4_294_967_295).nullable(),
  minTokens: z.number().int().min(0).max(10_000_000).nullable(),
  maxTokens: z.number().int().min(1).nullable(),
  /** Whether the model thinks before it answers, and at which of its levels; what its template does not offer counts for nothing. */
  thinking: z.boolean().nullable(),
  effort: z.string().min(1).max(40).nullable(),
  /** Whether what the model thought in earlier replies stays in its prompt; counts where the template has a switch for it. */
  keepThoughts: z.boolean().nullable(),
});

/** Nothing chosen. */
export const noSampling = Object.fromEntries(
  Object.keys(samplingOptionsSchema.shape).map((name) => [name, null]),
) as SamplingOptions;

/** DRY's breakers where a chat names none: those of the sampler's maker (p-e-w) and of llama.cpp. */
export const usualBreakers: readonly string[] = ["\n", ":", '"', "*"];

/** llama.cpp's own defaults, which model cards assume where they say nothing. */
export const ourSampling: SamplingDefaults = {
  temperature: 0.8,
  temperatureRange: 0,
  temperatureExponent: 1,
  topK: 40,
  topP: 0.95,
  minP: 0.05,
  typicalP: 1,
  topNSigma: 0,
  xtcProbability: 0,
  xtcThreshold: 0.1,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  penaltyLastN: 64,
  dryMultiplier: 0,
  dryBase: 1.75,
  dryAllowedLength: 2,
  dryLastN: -1,
  order: [...samplerNames],
};

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

export type TokenChoice = z.infer<typeof tokenChoiceSchema>;
export type SamplingOptions = z.infer<typeof samplingOptionsSchema>;
export type SamplingDefaults = z.infer<typeof samplingDefaultsSchema>;
export type Session = z.infer<typeof sessionSchema>;
export type SessionDocument = z.infer<typeof sessionDocumentSchema>;
export type SearchHit = z.infer<typeof searchHitSchema>;
