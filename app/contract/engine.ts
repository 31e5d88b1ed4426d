import { z } from "zod";
import { wireErrorSchema } from "./error.ts";
import { idSchema } from "./message.ts";

export const memoryPoolSchema = z.object({ name: z.string(), used: z.number(), limit: z.number().nullable() });

export const deviceSchema = z.object({
  backend: z.enum(["cpu", "hip", "cuda", "vulkan", "npu", "remote"]),
  name: z.string(),
  usable: z.boolean(),
  reason: z.string(),
  features: z.array(z.string()),
  memory: z.array(memoryPoolSchema),
});

/** The engine process, as main watches it. */
export const engineStatusSchema = z.object({
  state: z.enum(["starting", "ready", "restarting", "failed", "closed"]),
  /** How often it was restarted after a crash since the app started. */
  restarts: z.number().int().nonnegative(),
  /** What ended the last one; null when it never crashed. */
  lastCrash: wireErrorSchema.nullable(),
  backend: z.string().nullable(),
  devices: z.array(deviceSchema),
  modelId: idSchema.nullable(),
  /** True when the engine runs inside main's own process (a setting). */
  inProcess: z.boolean(),
});

/** Sent once a second while something runs or is watched, and on each change. */
export const telemetrySchema = z.object({
  modelId: idSchema.nullable(),
  modelName: z.string().nullable(),
  /** Of the reply that streams now, over the last second or so; null when idle. */
  tokensPerSecond: z.number().nullable(),
  /** Tokens in the context of the last or running request. */
  contextUsed: z.number().int().nonnegative(),
  contextLength: z.number().int().nonnegative(),
  memory: z.array(memoryPoolSchema),
  processBytes: z.number().nonnegative(),
  machineUsed: z.number().nonnegative(),
  machineTotal: z.number().nonnegative(),
});

export type EngineStatus = z.infer<typeof engineStatusSchema>;
export type Telemetry = z.infer<typeof telemetrySchema>;
