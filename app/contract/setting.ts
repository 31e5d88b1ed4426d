import { z } from "zod";
import { idSchema } from "./message.ts";

/** What the page may read and change. Paths are shown, not chosen, by the page. */
export const settingsSchema = z.object({
  theme: z.enum(["system", "light", "dark"]),
  /** Model of new chats; null = the first that works. */
  defaultModelId: idSchema.nullable(),
  contextLength: z.number().int().min(0).max(10_000_000),
  kvType: z.enum(["auto", "f32", "f16", "bf16", "q8_0"]),
  threads: z.number().int().min(0).max(1024),
  /** Load the engine into main's process instead of its own. Takes effect at the next start. */
  engineInProcess: z.boolean(),
  sendWithEnter: z.boolean(),
  sidebarWidth: z.number().int().min(180).max(480),
});

export const settingPatchSchema = settingsSchema.partial().strict();

export const appInfoSchema = z.object({
  version: z.string(),
  platform: z.string(),
  /** For display: where data and models live. */
  dataFolder: z.string(),
  modelFolder: z.string(),
  shell: z.enum(["electron", "browser"]),
});

export type Settings = z.infer<typeof settingsSchema>;
export type AppInfo = z.infer<typeof appInfoSchema>;
