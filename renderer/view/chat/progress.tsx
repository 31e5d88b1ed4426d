import { formatCount, formatShare } from "../../../app/number.ts";
import type { Progress } from "../../store/live.ts";
import { ProgressBar } from "../control/progress.tsx";

const words: Record<Progress["phase"], string> = {
  queued: "Waiting for its turn",
  load: "Loading the model",
  prefill: "Reading the conversation",
};

function amount({ phase, done, total }: Progress): string {
  if (total === 0) return "";
  return phase === "load" ? formatShare(done, total) : `${formatCount(done)} of ${formatCount(total)} tokens`;
}

/** What a reply waits for before its first token. */
export function ReplyProgress({ progress }: { progress: Progress | null }) {
  if (!progress || progress.phase === "queued") {
    return (
      <p className="reply-waits">
        <span className="cursor" aria-hidden="true" />
        <span className={progress ? "" : "unseen"}>{progress ? words.queued : "Waiting for the first word"}</span>
      </p>
    );
  }
  const label = words[progress.phase];
  return (
    <div className="reply-progress">
      <div className="reply-progress-text">
        <span>{label}</span>
        <span>{amount(progress)}</span>
      </div>
      <ProgressBar label={label} value={progress.done} total={progress.total > 0 ? progress.total : null} />
    </div>
  );
}
