import { Ellipsis, Pencil, Pin, PinOff, Trash2 } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { memo } from "react";
import type { Session } from "../../../app/contract/session.ts";
import { attempt } from "../../command/command.ts";
import { deleteSession, pinSession, renameSession, showSession } from "../../command/session.ts";
import { shortTime } from "../../logic/group.ts";
import { useLive, usePage, useUi } from "../page.ts";
import { RenameField } from "./rename-field.tsx";

function ItemMenu({ session }: { session: Session }) {
  const page = usePage();
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className="icon-button item-menu" aria-label={`Options of ${session.title}`}>
        <Ellipsis size={15} strokeWidth={1.75} aria-hidden="true" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="start" sideOffset={4} collisionPadding={8}>
          <DropdownMenu.Item className="menu-item" onSelect={() => page.ui.setState({ renamingId: session.id })}>
            <Pencil size={14} strokeWidth={1.75} aria-hidden="true" />
            Rename
          </DropdownMenu.Item>
          <DropdownMenu.Item className="menu-item" onSelect={() => attempt(page, () => pinSession(page, session))}>
            {session.pinned ? (
              <PinOff size={14} strokeWidth={1.75} aria-hidden="true" />
            ) : (
              <Pin size={14} strokeWidth={1.75} aria-hidden="true" />
            )}
            {session.pinned ? "Unpin" : "Pin"}
          </DropdownMenu.Item>
          <DropdownMenu.Separator className="menu-line" />
          <DropdownMenu.Item
            className="menu-item danger"
            onSelect={() => attempt(page, () => deleteSession(page, session))}
          >
            <Trash2 size={14} strokeWidth={1.75} aria-hidden="true" />
            Delete
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export const SessionItem = memo(function SessionItem({
  session,
  current,
  now,
}: {
  session: Session;
  current: boolean;
  now: Date;
}) {
  const page = usePage();
  const renaming = useUi((state) => state.renamingId === session.id);
  const streaming = useLive((state) => [...state.replies.values()].some((reply) => reply.sessionId === session.id));
  if (renaming) {
    return (
      <div className="session">
        <RenameField
          title={session.title}
          onDone={(title) => attempt(page, () => renameSession(page, session.id, title))}
        />
      </div>
    );
  }
  return (
    <div className={current ? "session on" : "session"}>
      <button
        type="button"
        className="session-open"
        title={session.title}
        aria-current={current ? "page" : undefined}
        onClick={() => attempt(page, () => showSession(page, session.id))}
        onKeyDown={(event) => {
          if (event.key === "F2") page.ui.setState({ renamingId: session.id });
          if (event.key === "Delete") attempt(page, () => deleteSession(page, session));
        }}
      >
        <span className="session-title">{session.title}</span>
        {streaming ? (
          <span className="dot live-dot" role="img" aria-label="A reply streams" />
        ) : (
          <small aria-hidden="true">{shortTime(session.updatedAt, now)}</small>
        )}
      </button>
      <ItemMenu session={session} />
    </div>
  );
});
