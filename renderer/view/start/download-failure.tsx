import type { WireError } from "../../../app/error.ts";
import { ErrorCard } from "../control/error-card.tsx";

/** A failed download names each source that was tried, with its reason: they are the error's details. */
export function DownloadFailure({ error }: { error: WireError }) {
  return <ErrorCard error={error} />;
}
