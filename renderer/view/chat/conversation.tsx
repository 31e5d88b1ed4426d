import { ArrowDown } from "lucide-react";
import { createContext, useContext, useLayoutEffect, useMemo } from "react";
import { type CustomContainerComponentProps, Virtualizer } from "virtua";
import { type ConversationRow, conversation } from "../../logic/conversation.ts";
import { serial } from "../../store/ui.ts";
import { IconButton } from "../control/button.tsx";
import { useDocument, usePage, useUi } from "../page.ts";
import { EmptyChat } from "../start/empty-chat.tsx";
import { MessageRow } from "./message.tsx";
import { useAnchor } from "./use-anchor.ts";

const noRows: readonly ConversationRow[] = [];

export function Conversation() {
  const page = usePage();
  const sessionId = useUi((state) => state.sessionId);
  const headId = useDocument((state) => (sessionId === null ? null : (state.sessions.get(sessionId)?.headId ?? null)));
  const messages = useDocument((state) => (sessionId === null ? undefined : state.messages.get(sessionId)));
  const rows = useMemo(() => (messages ? conversation(messages, headId) : noRows), [messages, headId]);
  if (sessionId === null || (messages && rows.length === 0)) return <EmptyChat />;
  if (!messages) {
    return (
      <div className="scroll">
        <p className="column quiet unseen-at-first">Opening…</p>
      </div>
    );
  }
  return <Rows key={sessionId} rows={rows} onJump={() => page.ui.setState({ followSerial: serial() })} />;
}

const StickContext = createContext<() => void>(() => undefined);

/** The list sets its height after it has measured its rows, and then puts its own place right; only after both the end is known. */
function Sheet({ style, children, ref }: CustomContainerComponentProps) {
  const stick = useContext(StickContext);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height is the reason
  useLayoutEffect(() => queueMicrotask(stick), [stick, style.height]);
  return (
    <div ref={ref} style={style}>
      {children}
    </div>
  );
}

function Rows({ rows, onJump }: { rows: readonly ConversationRow[]; onJump: () => void }) {
  const { scroller, list, away, stick, handlers } = useAnchor(rows);
  return (
    <div className="scroll-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the conversation scrolls by keyboard too */}
      <section ref={scroller} className="scroll" aria-label="Conversation" tabIndex={0} {...handlers}>
        <StickContext.Provider value={stick}>
          <Virtualizer as={Sheet} ref={list} scrollRef={scroller} data={rows} startMargin={24} bufferSize={600}>
            {(row, index) => <MessageRow key={row.message.id} row={row} last={index === rows.length - 1} />}
          </Virtualizer>
        </StickContext.Provider>
      </section>
      {away && <IconButton className="to-end" name="Go to the end" icon={ArrowDown} onClick={onJump} />}
    </div>
  );
}
