import { useLayoutEffect, useRef, useState } from "react";
import type { Message } from "../../../app/contract/message.ts";
import { editMessage } from "../../command/chat.ts";
import { attempt } from "../../command/command.ts";
import { messageText } from "../../logic/conversation.ts";
import { fitHeight } from "../composer/fit-height.ts";
import { usePage } from "../page.ts";

/** Other words for a user message. They become a version beside the old one, which stays. */
export function EditField({ message }: { message: Message }) {
  const page = usePage();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(() => messageText(message));
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.focus({ preventScroll: true });
    element.setSelectionRange(element.value.length, element.value.length);
  }, []);
  useLayoutEffect(() => {
    if (field.current) fitHeight(field.current, text, 400);
  }, [text]);
  const save = () => {
    if (text.trim() !== "") attempt(page, () => editMessage(page, message, text.trim()));
  };
  return (
    <div className="edit">
      <textarea
        ref={field}
        aria-label="Edit message"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            event.stopPropagation();
            save();
          }
        }}
      />
      <div className="edit-row">
        <span className="quiet">The old version stays, one arrow away.</span>
        <button type="button" className="button small" onClick={() => page.ui.setState({ editingId: null })}>
          Cancel
        </button>
        <button type="button" className="button small primary" disabled={text.trim() === ""} onClick={save}>
          Send as new version
        </button>
      </div>
    </div>
  );
}
