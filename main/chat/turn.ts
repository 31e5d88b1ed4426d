/** One reply, from the wish to its last token: load, render, check, generate, split, store. */
import { createStopMatcher } from "../../app/chat/stop.ts";
import type { AnyEvent } from "../../app/contract/event.ts";
import type { Message, MessageStatus } from "../../app/contract/message.ts";
import type { Session } from "../../app/contract/session.ts";
import type { GenerateOutcome, GrammarSource } from "../../app/engine.ts";
import { toWire, type WireError } from "../../app/error.ts";
import { orAborted, readUntilAborted } from "./abort.ts";
import type { ChatOptions, ModelLease } from "./collaborator.ts";
import { constraintOf, neverAnswered } from "./constraint.ts";
import { type ContextLimit, contextFull } from "./context.ts";
import type { DialectCache } from "./dialect-cache.ts";
import { createPace } from "./pace.ts";
import { buildPrompt, type Dialect, type Prompt } from "./prompt.ts";
import { createReply } from "./reply.ts";
import { samplingOf } from "./sampling.ts";

/** A reader sees changes this often at most. */
const deltaMilliseconds = 24;
/** A crash of the app loses no more than this. */
const flushMilliseconds = 200;

export type TurnEnd = "user" | "closing";

export interface TurnOptions extends ChatOptions {
  dialects: DialectCache;
  session: Session;
  /** From the root to the message that is answered. */
  path: readonly Message[];
  /** Stored already, with status `streaming`. */
  reply: Message;
  /** Whether `reply` holds a beginning that is to be gone on with. */
  continues: boolean;
  /** What the reply has to match; null = anything. */
  grammar: GrammarSource | null;
  modelId: string;
  /** Other replies are under way, so that this one may have to wait. */
  queued: boolean;
  /** The chat is free again; called before its readers hear of the end, so that they may go on at once. */
  onEnd: () => void;
}

export interface Turn {
  /** Ends it in any phase; the first reason counts. */
  stop(reason: TurnEnd): void;
  /** Settles when the reply is stored in its last state; never rejects. */
  readonly done: Promise<void>;
}

interface Ending {
  status: MessageStatus;
  error: WireError | null;
}

export function startTurn(options: TurnOptions): Turn {
  const { store, emit, clock } = options;
  const abort = new AbortController();
  let reason: TurnEnd | null = null;
  const reply = createReply(options.reply, clock);
  let outcome: GenerateOutcome | null = null;
  let storeFault: unknown = null;
  /** Puts what is still held back, as a possible tag or stop string, into the reply; at any end. */
  let drain: () => void = () => undefined;

  const flush = createPace(flushMilliseconds, () => {
    try {
      store.updateMessage(reply.message());
    } catch (error) {
      // A disk that is full must end the reply, not the app; what was shown stays shown.
      storeFault ??= error;
      abort.abort();
    }
  });
  const show = createPace(deltaMilliseconds, () => {
    for (const event of reply.deltas()) emit(event);
  });

  const progress = (phase: "queued" | "load" | "prefill", done: number, total: number): void => {
    const { sessionId, id } = options.reply;
    const payload = { sessionId, messageId: id, phase, done, total };
    emit({ name: "message.progress", payload } satisfies AnyEvent);
  };

  const acquire = (): Promise<ModelLease> => {
    const { signal } = abort;
    const lease = options.library.acquire(options.modelId, {
      onProgress: ({ phase, done, total }) => {
        if (!signal.aborted) progress(phase, done, total);
      },
      signal,
    });
    // A lease that comes after the user has left must not keep the model.
    return orAborted(lease, signal, (late) => late.release());
  };

  const generate = async (lease: ModelLease, dialect: Dialect, prompt: Prompt): Promise<Ending> => {
    const { tokenizer, shown, stops } = dialect;
    const chosen = options.session.sampling;
    const generation = options.engine.generate(
      {
        handle: lease.loaded.handle,
        tokens: Int32Array.from(prompt.tokens),
        sampling: samplingOf(chosen, lease.model.defaults, tokenizer),
        minTokens: chosen.minTokens ?? 0,
        maxTokens: chosen.maxTokens ?? 0,
        stopTokens: [...tokenizer.endTokens],
        alternatives: 0,
        ...constraintOf({
          format: options.grammar,
          dialect,
          prompt,
          choice: chosen,
          begun: options.continues ? options.reply : null,
        }),
      },
      ({ phase, done, total }) => {
        if (!abort.signal.aborted) progress(phase, done, total);
      },
    );
    const begun = options.continues && options.reply.blocks.some((block) => block.text !== "");
    const text = tokenizer.detokenizer(shown, begun);
    const stop = createStopMatcher([...stops, ...(chosen.stop ?? [])]);
    const take = (part: string, tokens: number): void => {
      reply.add(prompt.splitter.push(stop.push(part)), tokens, prompt.splitter.inside);
      flush.due();
      show.due();
    };
    drain = () => {
      const { splitter } = prompt;
      if (stop.stopped === null) reply.add(splitter.push(stop.push(text.flush()) + stop.flush()), 0, splitter.inside);
      reply.add(splitter.flush(), 0, splitter.inside);
      show.due();
    };
    const ended = await readUntilAborted(generation, abort.signal, (batch) => {
      // Nothing that was made after the wish to stop is shown.
      if (abort.signal.aborted || stop.stopped !== null) return false;
      let part = "";
      for (const id of batch.ids) part += text.push(id);
      take(part, batch.ids.length);
      return stop.stopped === null;
    });
    outcome = ended;
    if (stop.stopped !== null) return { status: "complete", error: null };
    if (abort.signal.aborted || ended === null) return interruption();
    if (ended.cause === "stop_token" || ended.cause === "stop_sequence" || ended.cause === "grammar")
      return { status: "complete", error: null };
    if (ended.cause === "length") {
      const unanswered = options.grammar !== null && prompt.splitter.place === "reasoning";
      return { status: "length", error: unanswered ? toWire(neverAnswered(ended.generatedTokens)) : null };
    }
    if (ended.cause === "cancelled") return { status: "interrupted", error: null };
    const used = ended.promptTokens + ended.generatedTokens;
    const full = contextFull(used, limitOf(lease));
    return { status: "length", error: toWire(full) };
  };

  const interruption = (): Ending => {
    if (storeFault !== null) return { status: "failed", error: toWire(storeFault) };
    return { status: reason === "closing" ? "interrupted" : "stopped", error: null };
  };

  const work = async (): Promise<Ending> => {
    let lease: ModelLease | null = null;
    try {
      progress(options.queued ? "queued" : "load", 0, 0);
      lease = await acquire();
      const dialect = await orAborted(options.dialects.get(lease), abort.signal, () => undefined);
      const prompt = buildPrompt({
        dialect,
        system: options.session.system,
        choice: options.session.sampling,
        path: options.path,
        begun: options.continues ? options.reply : null,
        now: new Date(clock()),
        limit: limitOf(lease),
      });
      return await generate(lease, dialect, prompt);
    } catch (error) {
      if (abort.signal.aborted) return interruption();
      const wire = toWire(error);
      const died = wire.code.startsWith("engine.") || wire.code === "transport.closed";
      return { status: died ? "interrupted" : "failed", error: wire };
    } finally {
      lease?.release();
    }
  };

  const finish = (ending: Ending): void => {
    drain();
    show.flush();
    show.cancel();
    flush.cancel();
    // Numbers of an earlier run hold only as long as nothing has been added to it.
    const before = reply.tokens === 0 ? options.reply.stats : null;
    let message = reply.finish({ ...ending, stats: outcome === null ? before : statsOf(outcome) });
    try {
      store.updateMessage(message);
    } catch (error) {
      message = { ...message, status: "failed", error: toWire(error) };
    }
    options.onEnd();
    emit({ name: "message.changed", payload: message });
  };

  const statsOf = (ended: GenerateOutcome): NonNullable<Message["stats"]> => ({
    promptTokens: ended.promptTokens,
    reused: ended.reused,
    recomputed: ended.recomputed,
    generatedTokens: ended.generatedTokens,
    prefillMilliseconds: ended.prefillMilliseconds,
    decodeMilliseconds: ended.decodeMilliseconds,
    firstTokenMilliseconds: reply.firstToken ?? 0,
    tokensPerSecond: ended.decodeMilliseconds > 0 ? (ended.generatedTokens * 1000) / ended.decodeMilliseconds : 0,
    seed: ended.seed,
  });

  return {
    stop: (why) => {
      reason ??= why;
      abort.abort();
    },
    done: work().then(finish),
  };
}

function limitOf({ loaded, inspection }: ModelLease): ContextLimit {
  return { contextLength: loaded.plan.contextLength, trained: inspection.contextLength };
}
