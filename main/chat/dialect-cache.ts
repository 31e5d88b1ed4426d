/** Tokenizer and template of the models used last, so that only the first message of a model waits for them. */
import type { Engine } from "../../app/engine.ts";
import { createTokenizer } from "../../app/token/tokenizer.ts";
import type { ModelLease } from "./collaborator.ts";
import type { Prober } from "./prober.ts";
import { createDialect, type Dialect } from "./prompt.ts";

export interface DialectCache {
  /** Rejects with tokenizer.*, template.failed, or the engine's error. */
  get(lease: Pick<ModelLease, "path" | "inspection">): Promise<Dialect>;
}

/** `onMade` hears each one that was built. */
export function createDialectCache(
  engine: Pick<Engine, "vocabulary">,
  prober: Pick<Prober, "probe">,
  onMade: (dialect: Dialect) => void,
  most = 3,
): DialectCache {
  const kept = new Map<string, Promise<Dialect>>();
  return {
    get: ({ path, inspection }) => {
      // A file that was replaced under the same name is another model.
      const key = `${path}\n${inspection.bytes}\n${inspection.vocabularySize}\n${inspection.template ?? ""}`;
      const found = kept.get(key);
      if (found !== undefined) {
        kept.delete(key);
        kept.set(key, found);
        return found;
      }
      const made = engine.vocabulary(path).then(async (vocabulary) => {
        const dialect = await createDialect(createTokenizer(vocabulary), inspection.template, prober);
        onMade(dialect);
        return dialect;
      });
      kept.set(key, made);
      made.catch(() => kept.delete(key));
      for (const oldest of kept.keys()) {
        if (kept.size <= most) break;
        kept.delete(oldest);
      }
      return made;
    },
  };
}
