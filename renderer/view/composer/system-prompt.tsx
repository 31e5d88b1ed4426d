import { ScrollText } from "lucide-react";
import { Popover } from "radix-ui";
import { useRef, useState } from "react";
import { attempt } from "../../command/command.ts";
import { chatModel } from "../../command/model.ts";
import { setSystem } from "../../command/session.ts";
import { useDocument, usePage, useUi } from "../page.ts";

/** The chat's system prompt; kept when the popover closes. */
export function SystemPrompt() {
  const page = usePage();
  const open = useUi((state) => state.open === "system");
  const sessionId = useUi((state) => state.sessionId);
  const draft = useUi((state) => state.newChat.system);
  const stored = useDocument((state) => (sessionId === null ? undefined : state.sessions.get(sessionId)?.system));
  const system = stored ?? draft;
  const newChat = useUi((state) => state.newChat);
  const placed = useDocument((state) => chatModel(state, { sessionId, newChat })?.features?.system ?? true);
  const [typed, setTyped] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const change = (next: boolean) => {
    page.ui.setState({ open: next ? "system" : null });
    if (next || typed === null) return;
    attempt(page, () => setSystem(page, typed));
    setTyped(null);
  };
  return (
    <Popover.Root open={open} onOpenChange={change}>
      <Popover.Trigger className={system === "" ? "chip" : "chip on"} title="System prompt">
        <ScrollText size={13} strokeWidth={1.75} aria-hidden="true" />
        <span className="chip-label">System prompt</span>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className="popover system"
          align="start"
          side="top"
          sideOffset={10}
          collisionPadding={12}
          aria-label="System prompt"
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            field.current?.focus();
          }}
        >
          <label htmlFor="system-prompt">System prompt</label>
          <textarea
            ref={field}
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
            <button type="button" className="button small primary" onClick={() => change(false)}>
              Done
            </button>
          </div>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
