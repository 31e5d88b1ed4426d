/** What the chat templates of the library's models offer. */
import type { ChatFeatures } from "../../app/contract/model.ts";
import type { ModelInspection } from "../../app/engine.ts";
import { HalogenError } from "../../app/error.ts";
import { fallbackTemplate } from "./fallback-template.ts";
import type { Prober } from "./prober.ts";

/** Null for a template that does not work; why it does not is said when somebody chats with the model. */
export function createFeatureCache(
  prober: Pick<Prober, "probe">,
): (inspection: Pick<ModelInspection, "template">) => Promise<ChatFeatures | null> {
  return async ({ template }) => {
    const source = template === null || template.trim() === "" ? fallbackTemplate(() => false).source : template;
    try {
      const { works, features } = await prober.probe(source);
      return works ? features : null;
    } catch (error) {
      if (error instanceof HalogenError && (error.code === "template.failed" || error.code === "request.cancelled"))
        return null;
      throw error;
    }
  };
}
