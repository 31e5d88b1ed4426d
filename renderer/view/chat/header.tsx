import { PanelLeft } from "lucide-react";
import { useMemo } from "react";
import { attempt } from "../../command/command.ts";
import { renameSession } from "../../command/session.ts";
import { toggleSidebar } from "../../command/view.ts";
import { branchCount } from "../../logic/conversation.ts";
import { IconButton } from "../control/button.tsx";
import { useDocument, usePage, useUi } from "../page.ts";
import { RenameField } from "../sidebar/rename-field.tsx";

function useBranchCount(sessionId: string | null): number {
  const messages = useDocument((state) => (sessionId === null ? undefined : state.messages.get(sessionId)));
  return useMemo(() => (messages ? branchCount(messages) : 0), [messages]);
}

export function ChatHeader() {
  const page = usePage();
  const sidebar = useUi((state) => state.sidebar);
  const sessionId = useUi((state) => state.sessionId);
  const renaming = useUi((state) => state.renamingId !== null && state.renamingId === `header:${sessionId}`);
  const session = useDocument((state) => (sessionId === null ? undefined : state.sessions.get(sessionId)));
  const branches = useBranchCount(sessionId);
  return (
    <header className="chat-header">
      {!sidebar && (
        <IconButton
          name="Show sidebar"
          icon={PanelLeft}
          shortcut={toggleSidebar.keys[0]}
          onClick={() => toggleSidebar.run(page)}
        />
      )}
      {session && renaming ? (
        <RenameField
          title={session.title}
          onDone={(title) => attempt(page, () => renameSession(page, session.id, title))}
        />
      ) : (
        <h1
          className={session ? "chat-title" : "chat-title quiet"}
          title={session?.title}
          onDoubleClick={() => session && page.ui.setState({ renamingId: `header:${session.id}` })}
        >
          {session?.title ?? "New chat"}
        </h1>
      )}
      {branches > 1 && <span className="pill">{branches} branches</span>}
    </header>
  );
}
