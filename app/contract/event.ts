/** Every event from main to page. */
import { z } from "zod";
import { engineStatusSchema, telemetrySchema } from "./engine.ts";
import { idSchema, messageSchema } from "./message.ts";
import { downloadSchema, modelSchema } from "./model.ts";
import { sessionSchema } from "./session.ts";
import { settingsSchema } from "./setting.ts";

export const events = {
  /** Created or changed. */
  "session.changed": sessionSchema,
  "session.removed": z.object({ sessionId: idSchema }),
  /** Added or replaced as a whole: at a turn's start, at its end, and on any change that is not a stream delta. */
  "message.changed": messageSchema,
  /**
   * Text added at the end of block `block` of a streaming message. `offset` is the block's length before it (UTF-16 units): a reader whose copy
   * has another length missed something and opens the session again. A block that does not exist yet is made with `type`.
   */
  "message.delta": z.object({
    sessionId: idSchema,
    messageId: idSchema,
    block: z.number().int().nonnegative(),
    type: z.enum(["text", "reasoning"]),
    offset: z.number().int().nonnegative(),
    text: z.string(),
    /** Tokens generated so far, and the rate over the last second or so. */
    tokens: z.number().int().nonnegative(),
    tokensPerSecond: z.number().nonnegative(),
  }),
  /** Before the first token: what the reply waits for. `done` of `total` in bytes (load) or tokens (prefill); 0 of 0 when unknown. */
  "message.progress": z.object({
    sessionId: idSchema,
    messageId: idSchema,
    phase: z.enum(["queued", "load", "prefill"]),
    done: z.number().nonnegative(),
    total: z.number().nonnegative(),
  }),
  "model.changed": modelSchema,
  "model.removed": z.object({ modelId: idSchema }),
  "download.changed": downloadSchema,
  "engine.changed": engineStatusSchema,
  "telemetry.changed": telemetrySchema,
  "setting.changed": settingsSchema,
  /** Something the user should know that belongs to no message. */
  notice: z.object({ level: z.enum(["info", "warning", "error"]), message: z.string(), hint: z.string() }),
} as const;

export type EventName = keyof typeof events;
export type EventPayload<N extends EventName> = z.output<(typeof events)[N]>;
export type AnyEvent = { [N in EventName]: { name: N; payload: EventPayload<N> } }[EventName];

export function isEventName(name: string): name is EventName {
  return Object.hasOwn(events, name);
}
