import { ScrollText } from "lucide-react";
import { Popover } from "radix-ui";
import { useState } from "react";
import { attempt } from "../../command/command.ts";
import { setSystem } from "../../command/session.ts";
import { useChatModel } from "../chosen.ts";
import { useDocument, usePage, useUi } from "../page.ts";
import { ChipPopover } from "./chip-popover.tsx";

/** The chat's system prompt; kept when the popover closes. */
export function SystemPrompt() {
  const page = usePage();
  const sessionId = useUi((state) => state.sessionId);
  const draft = useUi((state) => state.newChat.system);
  const stored = useDocument((state) => (sessionId === null ? undefined : state.sessions.get(sessionId)?.system));
  const system = stored ?? draft;
  const placed = useChatModel()?.features?.system ?? true;
  const [typed, setTyped] = useState<string | null>(null);
  const keep = () => {
    if (typed === null) return;
    attempt(page, () => setSystem(page, typed));
    setTyped(null);
  };
  return (
    <ChipPopover
      kind="system"
      label="System prompt"
      className="system"
      chip={
        <button type="button" className={system === "" ? "chip" : "chip on"} title="System prompt">
          <ScrollText size={13} strokeWidth={1.75} aria-hidden="true" />
          <span className="chip-label">System prompt</span>
        </button>
      }
      onClose={keep}
    >
      <label htmlFor="system-prompt">System prompt</label>
      <textarea
        id="system-prompt"
        rows={8}
        placeholder="How the model should behave in this chat. Empty leaves it to the model's own template."
        value={typed ?? system}
        onChange={(event) => setTyped(event.target.value)}
      />
      <div className="popover-foot">
        <span className="quiet">
          {placed
            ? "Used from the next message on."
            : "This model's template has no place for it: it goes in front of the first question."}
        </span>
        <Popover.Close className="button small primary">Done</Popover.Close>
      </div>
    </ChipPopover>
  );
}
