/** Calls on models, the catalogue and downloads. */
import type { Handlers } from "../../app/contract/client.ts";
import type { Library } from "../model/library.ts";

/** What tokens a text becomes, the chat knows. */
type ModelCall = Exclude<Extract<keyof Handlers, `model.${string}`>, "model.tokens">;

/** What the list shows at once, and the look that may still be under way behind it: a page waits for the first one only. */
export function createModelHandlers(library: Library, firstScan: Promise<unknown>): Pick<Handlers, ModelCall> {
  return {
    async "model.list"() {
      await firstScan;
      return { models: library.list() };
    },
    "model.scan": async () => ({ models: await library.scan() }),
    "model.plan": ({ modelId }) => library.plan(modelId),
    "model.load": ({ modelId }) => library.load(modelId),
    "model.unload": ({ modelId }) => library.unload(modelId),
    async "model.prepareFormat"({ modelId }) {
      await library.prepareFormat(modelId);
      return {};
    },
  };
}
