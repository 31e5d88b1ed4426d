/** A generation whose every token fits a grammar: the engine says what it chose, and is told what may come next while it computes. */
import type { EngineProgress, GenerateRequest, GrammarSource } from "../../app/engine.ts";
import { HalogenError } from "../../app/error.ts";
import { type GenerationSource, neverBegun } from "../../app/generation.ts";
import type { AddonEngine, AddonGeneration } from "../addon.ts";
import type { GrammarSession } from "./lane.ts";
import type { GrammarService } from "./service.ts";

export interface ConstrainOptions {
  raw: AddonEngine;
  request: GenerateRequest & { grammar: GrammarSource };
  onProgress: ((progress: EngineProgress) => void) | undefined;
  /** Throws model.not_loaded. */
  service: () => GrammarService;
  translate: (error: unknown) => HalogenError;
}

export function constrainedSource({
  raw,
  request,
  onProgress,
  service,
  translate,
}: ConstrainOptions): GenerationSource {
  let running: AddonGeneration | null = null;
  let session: GrammarSession | null = null;
  let cancelled = false;
  let fault: HalogenError | null = null;
  /** The mask that is being made; one at a time, in order. */
  let work: Promise<void> = Promise.resolve();

  const fail = (error: unknown): void => {
    const known = translate(error);
    // What was cancelled, here or with its model, ends as such.
    if (!cancelled && known.code !== "request.cancelled") fault ??= known;
    running?.cancel();
  };

  const begin = async (): Promise<void> => {
    const made = service();
    const stops = request.stopTokens.length > 0 ? request.stopTokens : [...(await made.endTokens())];
    if (stops.length === 0) {
      throw new HalogenError(
        "grammar.unsupported",
        "This model has no token that ends a reply, so that a grammar could never end",
        {
          hint: "Name stop tokens in the request.",
        },
      );
    }
    if (cancelled) return;
    const opened = made.open({
      source: request.grammar,
      thought: request.thought ?? null,
      written: request.written ?? "",
      stops,
    });
    session = opened;
    const starts = opened.start();
    // It is awaited below, unless the engine refuses the request first.
    starts.catch(() => undefined);
    const { grammar: _, thought: __, written: ___, ...plain } = request;
    const sampled = (id: number): void => {
      work = work
        .then(async () => {
          if (cancelled || fault !== null) return;
          running?.allow(await opened.accept(id));
        })
        .catch(fail);
    };
    running = raw.generate({ ...plain, stopTokens: stops, constrained: true }, onProgress, sampled);
    // The prompt is read while the grammar is made; the engine waits with the first token.
    running.allow(await starts);
  };
  let left: () => void = () => undefined;
  /** A grammar that is still being compiled is not waited for. */
  const leave = new Promise<void>((resolve) => {
    left = resolve;
  });
  const starting = Promise.race([
    begin().catch((error) => {
      running?.cancel();
      if (!cancelled && translate(error).code !== "request.cancelled") throw error;
    }),
    leave,
  ]);
  starting.catch(() => undefined);

  const release = (): void => {
    const done = session;
    session = null;
    done?.end();
  };

  return {
    async next() {
      try {
        await starting;
        const batch = running === null ? null : await running.next();
        if (batch !== null) return batch;
        if (!cancelled) await work;
        release();
      } catch (error) {
        release();
        throw fault ?? translate(error);
      }
      if (fault !== null) throw fault;
      return null;
    },
    async outcome() {
      if (running !== null) return running.outcome();
      return neverBegun(request);
    },
    cancel() {
      cancelled = true;
      running?.cancel();
      release();
      left();
    },
  };
}
