import { ArrowUp, FileText, Square, X } from "lucide-react";
import { type ClipboardEvent, type KeyboardEvent, useEffect, useLayoutEffect, useRef } from "react";
import { formatCount } from "../../../app/number.ts";
import { isEmptyDraft, send, stop } from "../../command/chat.ts";
import { attempt } from "../../command/command.ts";
import { plural } from "../../logic/number.ts";
import { countLines, isLongPaste } from "../../logic/paste.ts";
import { type Attachment, draftOf, serial, setDraft } from "../../store/ui.ts";
import { useChatModel } from "../chosen.ts";
import { IconButton } from "../control/button.tsx";
import { useDocument, usePage, useUi } from "../page.ts";
import { fitHeight } from "./fit-height.ts";
import { Format } from "./format.tsx";
import { ModelPicker } from "./model-picker.tsx";
import { Sampling } from "./sampling/sampling.tsx";
import { SystemPrompt } from "./system-prompt.tsx";
import { Thinking } from "./thinking.tsx";

const highest = 240;

function useStreaming(): boolean {
  const sessionId = useUi((state) => state.sessionId);
  return useDocument((state) => {
    const session = sessionId === null ? undefined : state.sessions.get(sessionId);
    const head = session?.headId ? state.messages.get(session.id)?.get(session.headId) : undefined;
    return head?.status === "streaming";
  });
}

function Attachments({ attachments, onDrop }: { attachments: readonly Attachment[]; onDrop: (id: number) => void }) {
  if (attachments.length === 0) return null;
  return (
    <ul className="attachments" aria-label="Attached text">
      {attachments.map(({ id, text, lines }) => (
        <li key={id} className="attachment">
          <FileText size={14} strokeWidth={1.75} aria-hidden="true" />
          <span className="attachment-name">Pasted text</span>
          <small>
            {plural(lines, "line")} · {formatCount(text.length)} characters
          </small>
          <IconButton name="Remove pasted text" icon={X} size={13} onClick={() => onDrop(id)} />
        </li>
      ))}
    </ul>
  );
}

export function Composer() {
  const page = usePage();
  const field = useRef<HTMLTextAreaElement>(null);
  const sessionId = useUi((state) => state.sessionId);
  const draft = useUi(draftOf);
  const focusSerial = useUi((state) => state.focusSerial);
  const withEnter = useDocument((state) => state.settings?.sendWithEnter ?? true);
  const online = useDocument((state) => state.connection === "open");
  const hasModel = useChatModel() !== null;
  const streaming = useStreaming();

  useLayoutEffect(() => {
    if (field.current) fitHeight(field.current, draft.text, highest);
  }, [draft.text]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the serial is the request
  useEffect(() => {
    field.current?.focus({ preventScroll: true });
  }, [focusSerial]);

  const onPaste = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData("text/plain");
    if (!isLongPaste(text)) return;
    event.preventDefault();
    const attachment = { id: serial(), text, lines: countLines(text) };
    setDraft(page.ui, sessionId, { ...draft, attachments: [...draft.attachments, attachment] });
  };

  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes, Enter chooses a candidate (229 is how older engines say so).
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (event.key !== "Enter" || event.shiftKey || event.altKey) return;
    if (!withEnter && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (send.enabled(page)) attempt(page, () => send.run(page));
  };

  return (
    <div className="composer">
      <form
        className="box"
        aria-label="Composer"
        onSubmit={(event) => {
          event.preventDefault();
          if (send.enabled(page)) attempt(page, () => send.run(page));
        }}
      >
        <Attachments
          attachments={draft.attachments}
          onDrop={(id) =>
            setDraft(page.ui, sessionId, { ...draft, attachments: draft.attachments.filter((one) => one.id !== id) })
          }
        />
        <textarea
          ref={field}
          rows={1}
          aria-label="Message"
          placeholder={sessionId === null ? "Ask anything" : "Reply"}
          value={draft.text}
          onChange={(event) => setDraft(page.ui, sessionId, { ...draft, text: event.target.value })}
          onPaste={onPaste}
          onKeyDown={onKeyDown}
        />
        <div className="composer-row">
          <ModelPicker />
          <Thinking />
          <SystemPrompt key={`system ${sessionId}`} />
          <Format key={`format ${sessionId}`} />
          <Sampling />
          <span className="spring" />
          {streaming ? (
            <IconButton
              name="Stop"
              icon={Square}
              size={13}
              shortcut="Escape"
              className="send stop"
              onClick={() => attempt(page, () => stop.run(page))}
            />
          ) : (
            <IconButton
              name="Send"
              icon={ArrowUp}
              size={17}
              type="submit"
              shortcut={withEnter ? "Enter" : "Mod+Enter"}
              className="send"
              disabled={isEmptyDraft(draft) || !online || !hasModel}
            />
          )}
        </div>
      </form>
    </div>
  );
}
