/** The assistant message that grows: pieces become blocks, blocks become deltas and flushes. */
import type { Piece } from "../../app/chat/piece.ts";
import type { AnyEvent } from "../../app/contract/event.ts";
import type { Block, Message, MessageStats, MessageStatus } from "../../app/contract/message.ts";
import type { WireError } from "../../app/error.ts";

export interface Reply {
  /** A copy of the message as it is now. */
  message(): Message;
  /** Adds what the splitter made of `tokens` more tokens; `inside`: a think block is open behind them. */
  add(pieces: readonly Piece[], tokens: number, inside: boolean): void;
  /** The deltas since the last call, one for each block that grew. */
  deltas(): AnyEvent[];
  finish(end: { status: MessageStatus; error: WireError | null; stats: MessageStats | null }): Message;
  readonly tokens: number;
  /** Milliseconds from `started` to the first token; null before it. */
  readonly firstToken: number | null;
  readonly tokensPerSecond: number;
}

/** Over how long the live rate is taken. */
const rateWindow = 1000;
const fewestSamples = 4;
/** Below this a rate says nothing. */
const shortestWindow = 50;

export function createReply(begun: Message, clock: () => number): Reply {
  const blocks: Block[] = begun.blocks.map((block) => ({ ...block }));
  const sent = blocks.map((block) => block.text.length);
  let tokens = 0;
  const started = clock();
  let first: number | null = null;
  /** When the reasoning block that is open now began, in this run. */
  let thinkingSince: number | null = null;
  let samples: { time: number; tokens: number }[] = [];

  const last = (): Block | undefined => blocks[blocks.length - 1];

  const append = (kind: "text" | "reasoning", text: string): void => {
    const now = clock();
    let block = last();
    if (kind === "text") {
      endThinking(now, true);
      if (block?.type !== "text") {
        block = { type: "text", text: "" };
        blocks.push(block);
        sent.push(0);
      }
      block.text += text;
      return;
    }
    if (block?.type !== "reasoning" || block.finished) {
      block = { type: "reasoning", text: "", finished: false, milliseconds: null, tokens: null };
      blocks.push(block);
      sent.push(0);
    }
    thinkingSince ??= now;
    block.text += text;
  };

  /** The time of a block that is continued adds up. */
  const endThinking = (now: number, finished: boolean): void => {
    const block = last();
    if (block?.type !== "reasoning" || block.finished) return;
    if (thinkingSince !== null) block.milliseconds = (block.milliseconds ?? 0) + Math.max(0, now - thinkingSince);
    thinkingSince = null;
    block.finished = finished;
  };

  const rate = (): number => {
    const oldest = samples[0];
    const newest = samples[samples.length - 1];
    if (oldest === undefined || newest === undefined || newest.time - oldest.time < shortestWindow) return 0;
    return ((newest.tokens - oldest.tokens) * 1000) / (newest.time - oldest.time);
  };

  return {
    message: () => ({ ...begun, blocks: blocks.map((block) => ({ ...block })) }),
    add: (pieces, count, inside) => {
      const now = clock();
      tokens += count;
      if (count > 0) {
        first ??= now - started;
        samples.push({ time: now, tokens });
        // A slow model makes less than a token in that time; then the last few count.
        const recent = samples.filter((each) => each.time >= now - rateWindow);
        samples = recent.length >= fewestSamples ? recent : samples.slice(-fewestSamples);
      }
      let uncounted = count;
      for (const { kind, text } of pieces) {
        if (kind === "markup") continue;
        append(kind, text);
        const block = last();
        if (block?.type === "reasoning") {
          block.tokens = (block.tokens ?? 0) + uncounted;
          uncounted = 0;
        }
      }
      if (!inside) endThinking(now, true);
    },
    deltas: () => {
      const events: AnyEvent[] = [];
      blocks.forEach((block, index) => {
        const offset = sent[index] ?? 0;
        if (block.text.length <= offset) return;
        sent[index] = block.text.length;
        events.push({
          name: "message.delta",
          payload: {
            sessionId: begun.sessionId,
            messageId: begun.id,
            block: index,
            type: block.type,
            offset,
            text: block.text.slice(offset),
            tokens,
            tokensPerSecond: rate(),
          },
        });
      });
      return events;
    },
    finish: ({ status, error, stats }) => {
      endThinking(clock(), false);
      return { ...begun, blocks: blocks.map((block) => ({ ...block })), status, error, stats };
    },
    get tokens() {
      return tokens;
    },
    get firstToken() {
      return first;
    },
    get tokensPerSecond() {
      return rate();
    },
  };
}
