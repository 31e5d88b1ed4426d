import { ChevronLeft, ChevronRight } from "lucide-react";
import { showVersion } from "../../command/chat.ts";
import { attempt } from "../../command/command.ts";
import type { ConversationRow } from "../../logic/conversation.ts";
import { IconButton } from "../control/button.tsx";
import { usePage } from "../page.ts";

/** ‹ 2 / 3 › */
export function Versions({ row }: { row: ConversationRow }) {
  const page = usePage();
  const count = row.siblings.length;
  if (count < 2) return null;
  const step = (by: number) => attempt(page, () => showVersion(page, row, by));
  return (
    <span className="versions">
      <IconButton
        name="Previous version"
        icon={ChevronLeft}
        size={14}
        disabled={row.index === 0}
        onClick={() => step(-1)}
      />
      <span className="versions-count">
        <span className="unseen">
          Version {row.index + 1} of {count}
        </span>
        <span aria-hidden="true">
          {row.index + 1} / {count}
        </span>
      </span>
      <IconButton
        name="Next version"
        icon={ChevronRight}
        size={14}
        disabled={row.index === count - 1}
        onClick={() => step(1)}
      />
    </span>
  );
}
