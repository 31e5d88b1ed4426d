import { useEffect, useMemo, useRef, useState } from "react";
import { VList, type VListHandle } from "virtua";
import type { Session } from "../../../app/contract/session.ts";
import { groupSessions } from "../../logic/group.ts";
import { useDocument, useUi } from "../page.ts";
import { moveFocus } from "./move-focus.ts";
import { SessionItem } from "./session-item.tsx";

type Row = { key: string; heading: string; session: null } | { key: string; heading: null; session: Session };

/** The time, told anew each minute so that "Today" does not grow old. */
function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 60_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

export function SessionList() {
  const sessions = useDocument((state) => state.sessions);
  const ready = useDocument((state) => state.ready);
  const currentId = useUi((state) => state.sessionId);
  const now = useNow();
  const list = useRef<VListHandle>(null);
  const rows = useMemo<Row[]>(
    () =>
      groupSessions(sessions.values(), now).flatMap(({ name, sessions: members }): Row[] => [
        { key: name, heading: name, session: null },
        ...members.map((session) => ({ key: session.id, heading: null, session })),
      ]),
    [sessions, now],
  );
  const index = rows.findIndex((row) => row.session?.id === currentId);
  const shown = useRef<string | null>(null);
  useEffect(() => {
    // Only a new choice scrolls the list, not each change of its order.
    if (index === -1 || shown.current === currentId) return;
    shown.current = currentId;
    list.current?.scrollToIndex(index, { align: "nearest" });
  }, [index, currentId]);
  if (ready && rows.length === 0) return <p className="side-note side-list">Your chats will be listed here.</p>;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrow keys between the buttons inside
    <div className="side-list" onKeyDown={moveFocus}>
      <VList ref={list} data={rows} className="session-list">
        {(row) =>
          row.session === null ? (
            <h2 key={row.key} className="group">
              {row.heading}
            </h2>
          ) : (
            <SessionItem key={row.key} session={row.session} current={row.session.id === currentId} now={now} />
          )
        }
      </VList>
    </div>
  );
}
