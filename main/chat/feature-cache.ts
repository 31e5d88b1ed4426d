/** What the chat templates of the library's models offer; each template is looked at once. */
import type { ChatFeatures } from "../../app/contract/model.ts";
import type { ModelInspection } from "../../app/engine.ts";
import { HalogenError } from "../../app/error.ts";
import { fallbackTemplate } from "./fallback-template.ts";
import { noProbe, probeTemplate } from "./probe.ts";
import { compileTemplate } from "./template.ts";

/** Null for a template that does not work; why it does not is said when somebody chats with the model. */
export function createFeatureCache(): (inspection: Pick<ModelInspection, "template">) => ChatFeatures | null {
  const known = new Map<string, ChatFeatures | null>();
  return ({ template }) => {
    const source = template === null || template.trim() === "" ? fallbackTemplate(() => false).source : template;
    let features = known.get(source);
    if (features === undefined) {
      features = probed(source);
      known.set(source, features);
    }
    return features;
  };
}

function probed(source: string): ChatFeatures | null {
  try {
    const probe = probeTemplate(compileTemplate(source));
    return probe === noProbe ? null : probe.features;
  } catch (error) {
    if (error instanceof HalogenError && error.code === "template.failed") return null;
    throw error;
  }
}
