/** What the replies are doing, read off the events that go to the page anyway. */
import type { AnyEvent } from "../../app/contract/event.ts";
import type { Message } from "../../app/contract/message.ts";

export interface Activity {
  /** True when the event starts or ends something that telemetry shows. */
  observe(event: AnyEvent): boolean;
  /** A reply streams or a model loads. */
  active(): boolean;
  /** Of the reply that spoke last; null when none streams. */
  tokensPerSecond(): number | null;
  /** Of the last or running request. */
  contextUsed(): number;
}

interface Reply {
  prompt: number;
  generated: number;
  rate: number | null;
}

export function createActivity(): Activity {
  const replies = new Map<string, Reply>();
  const loading = new Set<string>();
  let latest: Reply | null = null;
  let finished = 0;

  function changed(message: Message): boolean {
    if (message.role !== "assistant") return false;
    if (message.status === "streaming") {
      if (replies.has(message.id)) return false;
      latest = { prompt: 0, generated: 0, rate: null };
      replies.set(message.id, latest);
      return true;
    }
    const known = replies.get(message.id);
    if (known === undefined) return false;
    replies.delete(message.id);
    if (message.stats !== null) finished = message.stats.promptTokens + message.stats.generatedTokens;
    else finished = known.prompt + known.generated;
    if (latest === known) latest = [...replies.values()].pop() ?? null;
    return true;
  }

  return {
    observe(event) {
      switch (event.name) {
        case "message.changed":
          return changed(event.payload);
        case "message.delta": {
          const reply = replies.get(event.payload.messageId);
          if (reply === undefined) return false;
          reply.generated = event.payload.tokens;
          reply.rate = event.payload.tokensPerSecond;
          latest = reply;
          return false;
        }
        case "message.progress": {
          const reply = replies.get(event.payload.messageId);
          if (reply !== undefined && event.payload.phase === "prefill") reply.prompt = event.payload.total;
          return false;
        }
        case "model.changed": {
          const { id, state } = event.payload;
          const was = loading.has(id);
          if (state === "loading") loading.add(id);
          else loading.delete(id);
          return was !== loading.has(id);
        }
        case "model.removed":
          return loading.delete(event.payload.modelId);
        default:
          return false;
      }
    },
    active: () => replies.size > 0 || loading.size > 0,
    tokensPerSecond: () => latest?.rate ?? null,
    contextUsed: () => (latest === null ? finished : Math.trunc(latest.prompt + latest.generated)),
  };
}
