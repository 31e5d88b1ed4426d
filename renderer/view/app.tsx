import { Tooltip } from "radix-ui";
import { useEffect } from "react";
import { commands } from "../command/all.ts";
import { dispatch } from "../command/command.ts";
import { Banners } from "./chat/banner.tsx";
import { Conversation } from "./chat/conversation.tsx";
import { ChatHeader } from "./chat/header.tsx";
import { Composer } from "./composer/composer.tsx";
import { Toasts } from "./control/toasts.tsx";
import { useDocument, usePage, useUi } from "./page.ts";
import { SettingsDialog } from "./setting/dialog.tsx";
import { Sidebar } from "./sidebar/sidebar.tsx";
import { FirstRun } from "./start/first-run.tsx";
import { StatusBar } from "./status/status-bar.tsx";

function useShortcuts(): void {
  const page = usePage();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      if (dispatch(page, commands, event)) event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [page]);
}

/** The setting decides; "system" leaves it to the system, by taking the attribute away. */
function useTheme(): void {
  const theme = useDocument((state) => state.settings?.theme ?? "system");
  useEffect(() => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
}

function useTitle(): void {
  const sessionId = useUi((state) => state.sessionId);
  const title = useDocument((state) => (sessionId === null ? undefined : state.sessions.get(sessionId)?.title));
  useEffect(() => {
    document.title = title === undefined ? "Halogen" : `${title} · Halogen`;
  }, [title]);
}

function Announcer() {
  const announcement = useUi((state) => state.announcement);
  return (
    <div className="unseen" role="status" aria-live="polite">
      {announcement}
    </div>
  );
}

export function App() {
  useShortcuts();
  useTheme();
  useTitle();
  const sidebar = useUi((state) => state.sidebar);
  const ready = useDocument((state) => state.ready);
  const usable = useDocument((state) => [...state.models.values()].some((model) => model.state !== "broken"));
  const newChat = useUi((state) => state.sessionId === null);
  return (
    <Tooltip.Provider delayDuration={500} skipDelayDuration={200}>
      <div className={sidebar ? "app" : "app no-sidebar"}>
        {sidebar && <Sidebar />}
        <main className="chat">
          <ChatHeader />
          <Banners />
          {ready && !usable && newChat ? (
            <FirstRun />
          ) : (
            <>
              <Conversation />
              <Composer />
            </>
          )}
        </main>
        <StatusBar />
      </div>
      <SettingsDialog />
      <Toasts />
      <Announcer />
    </Tooltip.Provider>
  );
}
