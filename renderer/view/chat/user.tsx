import { Pencil } from "lucide-react";
import { useState } from "react";
import { formatCount } from "../../../app/number.ts";
import { type ConversationRow, messageText } from "../../logic/conversation.ts";
import { clamp } from "../../logic/excerpt.ts";
import { IconButton } from "../control/button.tsx";
import { ErrorCard } from "../control/error-card.tsx";
import { CopyButton } from "../markdown/code-block.tsx";
import { usePage } from "../page.ts";
import { Versions } from "./versions.tsx";

const foldAt = { characters: 4000, lines: 40 };
/** More than this is never drawn at once; copying still copies everything. */
const mostDrawn = 200_000;

export function UserMessage({ row, last }: { row: ConversationRow; last: boolean }) {
  const page = usePage();
  const [open, setOpen] = useState(false);
  const { message } = row;
  const text = messageText(message);
  const folded = clamp(text, foldAt.characters, foldAt.lines);
  const shown = open ? clamp(text, mostDrawn, Number.POSITIVE_INFINITY) : folded;
  return (
    <>
      <div className="bubble">
        {shown.text}
        {shown.hidden > 0 && !open && "…"}
        {open && shown.hidden > 0 && (
          <p className="bubble-note">{formatCount(shown.hidden)} more characters are stored; Copy takes them all.</p>
        )}
        {folded.hidden > 0 && (
          <button type="button" className="text-button" onClick={() => setOpen(!open)}>
            {open ? "Show less" : `Show all ${formatCount(text.length)} characters`}
          </button>
        )}
      </div>
      {message.error && <ErrorCard error={message.error} />}
      <div className={last ? "meta right on" : "meta right"}>
        <span className="actions">
          <CopyButton text={text} />
          <IconButton name="Edit" icon={Pencil} size={14} onClick={() => page.ui.setState({ editingId: message.id })} />
        </span>
        <Versions row={row} />
      </div>
    </>
  );
}
