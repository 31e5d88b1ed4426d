/** Every call from page to main: name -> request and reply schema. Both transports check both sides with these. */
import { z } from "zod";
import { engineStatusSchema, telemetrySchema } from "./engine.ts";
import { idSchema, messageSchema, responseFormatSchema } from "./message.ts";
import { catalogueEntrySchema, downloadSchema, memoryPlanSchema, modelSchema } from "./model.ts";
import {
  samplingOptionsSchema,
  searchHitSchema,
  sessionDocumentSchema,
  sessionSchema,
  tokenChoiceSchema,
  tokenIdSchema,
} from "./session.ts";
import { appInfoSchema, settingPatchSchema, settingsSchema } from "./setting.ts";

const nothing = z.object({}).strict();
const sessionRef = z.object({ sessionId: idSchema }).strict();
const messageRef = z.object({ sessionId: idSchema, messageId: idSchema }).strict();
/** The two messages a turn makes; `user` is null where the turn only makes a reply. */
const turn = z.object({ user: messageSchema.nullable(), reply: messageSchema });
/** Most characters of one message; more is refused with the numbers. */
export const messageTextLimit = 8_000_000;
const text = z.string().max(messageTextLimit);
/** What a reply has to match; null: nothing. Absent: as it was for the message that is asked again. */
const responseFormat = responseFormatSchema.nullable().optional();

export const calls = {
  "app.info": { request: nothing, reply: appInfoSchema },

  "session.list": { request: nothing, reply: z.object({ sessions: z.array(sessionSchema) }) },
  "session.create": {
    request: z.object({ modelId: idSchema.nullable().optional(), system: text.optional() }).strict(),
    reply: sessionSchema,
  },
  "session.open": { request: sessionRef, reply: sessionDocumentSchema },
  "session.update": {
    request: z
      .object({
        sessionId: idSchema,
        title: z.string().trim().min(1).max(200).optional(),
        pinned: z.boolean().optional(),
        system: text.optional(),
        modelId: idSchema.nullable().optional(),
        sampling: samplingOptionsSchema.partial().optional(),
      })
      .strict(),
    reply: sessionSchema,
  },
  "session.delete": { request: sessionRef, reply: nothing },
  /** Brings back the session that was deleted last, if it has not been pruned yet. */
  "session.restore": { request: sessionRef, reply: sessionSchema },
  /** Shows the branch through this message, down to its newest leaf. */
  "session.select": { request: messageRef, reply: sessionSchema },
  "session.search": {
    request: z.object({ query: z.string().max(1000), limit: z.number().int().min(1).max(200).optional() }).strict(),
    reply: z.object({ hits: z.array(searchHitSchema) }),
  },

  /** Adds a user message under `parentId` (null = as a first message) and starts the reply, which then streams as events. */
  "chat.send": {
    request: z
      .object({ sessionId: idSchema, parentId: idSchema.nullable(), text: text.min(1), responseFormat })
      .strict(),
    reply: turn,
  },
  /** A further sibling of this assistant message. */
  "chat.regenerate": { request: messageRef.extend({ responseFormat }).strict(), reply: turn },
  /** A sibling of a user message with other words, and a reply to it. */
  "chat.edit": { request: messageRef.extend({ text: text.min(1), responseFormat }).strict(), reply: turn },
  /** Goes on in the same message after stop, limit or interruption. */
  "chat.continue": { request: messageRef, reply: turn },
  "chat.stop": { request: sessionRef, reply: nothing },

  "model.list": { request: nothing, reply: z.object({ models: z.array(modelSchema) }) },
  /** Looks at the model folders again. */
  "model.scan": { request: nothing, reply: z.object({ models: z.array(modelSchema) }) },
  "model.plan": { request: z.object({ modelId: idSchema }).strict(), reply: memoryPlanSchema },
  "model.load": { request: z.object({ modelId: idSchema }).strict(), reply: modelSchema },
  "model.unload": { request: z.object({ modelId: idSchema }).strict(), reply: modelSchema },
  /** The next reply will have a format: begins what it would wait for, where the model is loaded. */
  "model.prepareFormat": { request: z.object({ modelId: idSchema }).strict(), reply: nothing },
  /** What choices of tokens stand for in this model, in their order; an empty list where it has no such token. */
  "model.tokens": {
    request: z.object({ modelId: idSchema, choices: z.array(tokenChoiceSchema).max(20_000) }).strict(),
    reply: z.object({
      /** Tokens that the model has; their numbers begin with 0. */
      count: z.number().int().nonnegative(),
      choices: z.array(z.array(z.object({ id: tokenIdSchema, text: z.string() }))),
    }),
  },
  "catalogue.list": { request: nothing, reply: z.object({ entries: z.array(catalogueEntrySchema) }) },
  "download.list": { request: nothing, reply: z.object({ downloads: z.array(downloadSchema) }) },
  "download.start": { request: z.object({ entryId: idSchema }).strict(), reply: downloadSchema },
  "download.cancel": { request: z.object({ downloadId: idSchema }).strict(), reply: downloadSchema },

  "engine.status": { request: nothing, reply: engineStatusSchema },
  "engine.restart": { request: nothing, reply: engineStatusSchema },
  "telemetry.read": { request: nothing, reply: telemetrySchema },

  "setting.read": { request: nothing, reply: settingsSchema },
  "setting.update": { request: settingPatchSchema, reply: settingsSchema },
} as const;

export type CallName = keyof typeof calls;
export type Request<N extends CallName> = z.input<(typeof calls)[N]["request"]>;
export type Reply<N extends CallName> = z.output<(typeof calls)[N]["reply"]>;

export const callNames = Object.keys(calls) as CallName[];

export function isCallName(name: string): name is CallName {
  return Object.hasOwn(calls, name);
}
