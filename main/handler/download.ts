/** Calls on the catalogue and on downloads from it. */
import type { Handlers } from "../../app/contract/client.ts";
import { HalogenError } from "../../app/error.ts";
import type { Catalogue } from "../model/catalogue.ts";
import type { Downloads } from "../model/downloads.ts";

type DownloadCall = Extract<keyof Handlers, `catalogue.${string}` | `download.${string}`>;

/** `downloads` is null in a command that ends before a download would: only the app runs the queue. */
export function createDownloadHandlers(
  catalogue: Catalogue,
  downloads: Downloads | null,
): Pick<Handlers, DownloadCall> {
  const queue = (): Downloads => {
    if (downloads !== null) return downloads;
    throw new HalogenError("download.failed", "Downloads run in the app only, not in a single command.");
  };
  return {
    "catalogue.list": async () => ({ entries: catalogue.list() }),
    "download.list": async () => ({ downloads: downloads?.list() ?? [] }),
    "download.start": async ({ entryId }) => queue().start(entryId),
    "download.cancel": async ({ downloadId }) => queue().cancel(downloadId),
  };
}
