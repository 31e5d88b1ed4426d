/** What a reply with a grammar does in which order, over an engine and masks that are played. */
import { expect, test } from "vitest";
import { HalogenError } from "../../../../app/error.ts";
import { pullGeneration } from "../../../../app/generation.ts";
import type { AddonEngine, AddonGeneration } from "../../../../native/addon.ts";
import { constrainedSource } from "../../../../native/grammar/constrain.ts";
import type { GrammarSession } from "../../../../native/grammar/lane.ts";
import type { Offer } from "../../../../native/grammar/message.ts";
import { generateRequest } from "../../../fixtures/engine-request.ts";

function stage({ refuses = false } = {}) {
  const log: string[] = [];
  let offer: (mask: Offer) => void = () => undefined;
  let refuse: (error: HalogenError) => void = () => undefined;
  let ended: () => void = () => undefined;
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const session: GrammarSession = {
    start: () => {
      log.push("grammar begun");
      return new Promise((resolve, reject) => {
        offer = resolve;
        refuse = reject;
      });
    },
    accept: async () => null,
    end: () => {
      log.push("grammar left");
      refuse(new HalogenError("request.cancelled", "The reply was ended"));
    },
  };
  const running: AddonGeneration = {
    next: async () => {
      await end;
      return null;
    },
    outcome: () => ({ cause: "grammar" }) as ReturnType<AddonGeneration["outcome"]>,
    cancel: () => {
      log.push("engine cancelled");
      ended();
    },
    allow: (mask) => {
      log.push(`allowed ${mask?.[0]}`);
      ended();
    },
  };
  const raw = {
    generate: () => {
      if (refuses) throw new HalogenError("context.exceeded", "too long");
      log.push("prompt begun");
      return running;
    },
  } as unknown as AddonEngine;
  const generation = pullGeneration(
    constrainedSource({
      raw,
      request: {
        ...generateRequest(1, Int32Array.of(1, 2, 3), { stopTokens: [7] }),
        grammar: { kind: "json", source: "" },
      },
      onProgress: undefined,
      service: () => ({
        prepare: () => undefined,
        endTokens: async () => [7],
        open: () => session,
        close: () => undefined,
      }),
      translate: (error) => error as HalogenError,
    }),
  );
  return { log, generation, offer: (mask: Offer) => offer(mask), refuse: (error: HalogenError) => refuse(error) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "no fault",
    (error: HalogenError) => error.code,
  );

test("the prompt is read while the grammar is made, and the first token waits for it", async () => {
  const { log, generation, offer } = stage();
  await turn();
  expect(log).toEqual(["grammar begun", "prompt begun"]);
  offer(Uint32Array.of(5));
  expect((await generation.outcome).cause).toBe("grammar");
  expect(log).toEqual(["grammar begun", "prompt begun", "allowed 5", "grammar left"]);
});

test("a grammar that is refused ends the reading of the prompt, and is what the reply ends with", async () => {
  const { log, generation, refuse } = stage();
  await turn();
  refuse(new HalogenError("grammar.invalid", "no"));
  expect(await codeOf(generation.outcome)).toBe("grammar.invalid");
  expect(log).toEqual(["grammar begun", "prompt begun", "engine cancelled", "grammar left"]);
});

test("a request that the engine refuses gives the grammar up", async () => {
  const { log, generation } = stage({ refuses: true });
  expect(await codeOf(generation.outcome)).toBe("context.exceeded");
  expect(log).toEqual(["grammar begun", "grammar left"]);
});

test("cancelled while the grammar is made, it waits for neither", async () => {
  const { log, generation } = stage();
  await turn();
  generation.cancel();
  await generation.outcome;
  expect(log.slice(0, 2)).toEqual(["grammar begun", "prompt begun"]);
  expect(log).toContain("engine cancelled");
  expect(log).toContain("grammar left");
  expect(log.some((line) => line.startsWith("allowed"))).toBe(false);
});
