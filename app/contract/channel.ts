/** The frames both transports carry, and the checks they share: request, reply and event against their schemas. */
import { z } from "zod";
import { fromWire, HalogenError, type WireError } from "../error.ts";
import { type CallName, calls, isCallName, type Reply, type Request } from "./call.ts";
import { wireErrorSchema } from "./error.ts";
import { type AnyEvent, events, isEventName } from "./event.ts";

/** How a call ended. An error travels as data: Electron's own rejection would keep only its message. */
export type CallResult = { ok: true; reply: unknown } | { ok: false; error: WireError };

/** What the preload script puts on the page's `window.halogen`: nothing else of Electron reaches the page. */
export interface Bridge {
  call(name: string, request: unknown): Promise<CallResult>;
  /** Returns the function that stops listening. */
  on(listener: (event: unknown) => void): () => void;
}

/** Page to server over the socket. */
export const callFrameSchema = z.object({
  type: z.literal("call"),
  id: z.number().int(),
  name: z.string(),
  request: z.unknown(),
});
export type CallFrame = z.infer<typeof callFrameSchema>;

/** Server to page over the socket. Replies and events share one ordered stream, so a reply never overtakes an event before it. */
export const serverFrameSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("reply"), id: z.number().int(), reply: z.unknown() }),
  z.object({ type: z.literal("error"), id: z.number().int(), error: wireErrorSchema }),
  z.object({ type: z.literal("event"), event: z.object({ name: z.string(), payload: z.unknown() }) }),
]);
export type ServerFrame = z.infer<typeof serverFrameSchema>;

/** Bytes of one frame or request body: 8 million characters of text fit, also when most are escaped or three bytes long. */
export const frameByteLimit = 32 * 1024 * 1024;

/** Close codes of the socket beyond the standard's. */
export const closeCode = {
  /** The page read too slowly and events were dropped: connect again and read everything anew. */
  resync: 4008,
  /** The server ends. */
  shutdown: 1001,
} as const;

export function checkName(name: string): CallName {
  if (isCallName(name)) return name;
  throw new HalogenError("transport.unknown_call", `There is no call named "${clip(name, 80)}".`, {
    hint: "The page and Halogen may be of different versions: reload the page.",
    detail: { name: clip(name, 80) },
  });
}

/** The request as its schema sees it; throws request.invalid that names the path, what was expected and what was found. */
export function checkRequest<N extends CallName>(name: N, value: unknown): Request<N> {
  const result = calls[name].request.safeParse(value);
  if (result.success) return result.data as Request<N>;
  throw invalid(`The request ${name}`, result.error, value, "request.invalid");
}

/** A reply that breaks its schema is a fault of Halogen's own, hence `internal`. */
export function checkReply<N extends CallName>(name: N, value: unknown): Reply<N> {
  const result = calls[name].reply.safeParse(value);
  if (result.success) return result.data as Reply<N>;
  throw invalid(`The reply to ${name}`, result.error, value, "internal");
}

export function checkEvent(value: unknown): AnyEvent {
  const name = field(value, "name");
  if (typeof name !== "string" || !isEventName(name)) {
    throw new HalogenError("internal", `There is no event named "${clip(String(name), 80)}".`);
  }
  const payload = field(value, "payload");
  const result = events[name].safeParse(payload);
  if (result.success) return { name, payload: result.data } as AnyEvent;
  throw invalid(`The event ${name}`, result.error, payload, "internal");
}

/** A call's result as the page receives it: the checked reply, or the error thrown. */
export function openResult<N extends CallName>(name: N, result: CallResult): Reply<N> {
  if (result.ok) return checkReply(name, result.reply);
  const error = wireErrorSchema.safeParse(result.error);
  if (error.success) throw fromWire(error.data);
  throw new HalogenError("internal", `The error of ${name} could not be read.`, {
    detail: { found: show(result.error) },
  });
}

function invalid(
  subject: string,
  error: z.ZodError,
  value: unknown,
  code: "request.invalid" | "internal",
): HalogenError {
  const issue = error.issues[0];
  const path = issue?.path ?? [];
  const where = path.length === 0 ? "" : ` at "${path.map(String).join(".")}"`;
  const expected = issue?.message ?? "something else";
  let found = value;
  for (const key of path) found = field(found, key);
  return new HalogenError(code, `${subject} is not valid${where}: ${expected}; found ${show(found)}.`, {
    hint:
      code === "request.invalid"
        ? "Correct the value and send it again."
        : "This is a fault of Halogen: please report it.",
    detail: {
      path: path.map(String).join("."),
      expected,
      found: show(found),
      problems: error.issues.length,
      // Characters allowed, where a text is too long.
      ...(issue?.code === "too_big" && issue.origin === "string" ? { limit: Number(issue.maximum) } : {}),
    },
  });
}

function field(value: unknown, key: PropertyKey): unknown {
  return typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined;
}

/** A value in a few words: never the whole text of a message. */
function show(value: unknown): string {
  if (typeof value === "string")
    return value.length > 60 ? `a string of ${value.length} characters` : JSON.stringify(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (value === null || typeof value !== "object") return String(value);
  return `an object with ${clip(Object.keys(value).join(", ") || "no keys", 80)}`;
}

function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
