import { PanelLeft, Plus, Search, Settings, X } from "lucide-react";
import { useEffect } from "react";
import { attempt } from "../../command/command.ts";
import { clearSearch, focusSearch, search, searchFieldId } from "../../command/search.ts";
import { newChat, openHit } from "../../command/session.ts";
import { openSettings, toggleSidebar } from "../../command/view.ts";
import { IconButton, Shortcut } from "../control/button.tsx";
import { useDocument, usePage, useUi } from "../page.ts";
import { SearchResults } from "./results.tsx";
import { SessionList } from "./session-list.tsx";

const pause = 120;

function SearchField() {
  const page = usePage();
  const query = useUi((state) => state.query);
  useEffect(() => {
    if (query.trim() === "") {
      page.ui.setState({ hits: null });
      return;
    }
    const timer = setTimeout(() => attempt(page, () => search(page, query)), pause);
    return () => clearTimeout(timer);
  }, [page, query]);
  return (
    <div className="search">
      <Search size={14} strokeWidth={1.75} aria-hidden="true" />
      <input
        id={searchFieldId}
        type="search"
        aria-label="Search everything"
        placeholder="Search everything"
        aria-keyshortcuts="Control+K"
        autoComplete="off"
        spellCheck={false}
        maxLength={1000}
        value={query}
        onChange={(event) => page.ui.setState({ query: event.target.value })}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          const first = page.ui.getState().hits?.[0];
          if (event.key === "Enter" && first) attempt(page, () => openHit(page, first));
          if (event.key === "ArrowDown") {
            event.preventDefault();
            document.querySelector<HTMLElement>(".side-list button")?.focus();
          }
        }}
      />
      {query === "" ? (
        <Shortcut keys={focusSearch.keys[0] ?? ""} />
      ) : (
        <IconButton name="Clear search" icon={X} size={13} onClick={() => clearSearch(page)} />
      )}
    </div>
  );
}

export function Sidebar() {
  const page = usePage();
  const hits = useUi((state) => state.hits);
  const browser = useDocument((state) => state.info?.shell === "browser");
  // A browser keeps Ctrl N for itself.
  const newKey = newChat.keys[browser ? 1 : 0] ?? "";
  return (
    <nav className="side" aria-label="Chats">
      <header className="side-header">
        <b className="brand">Halogen</b>
        <button
          type="button"
          className="new-chat"
          aria-label="New chat"
          onClick={() => attempt(page, () => newChat.run(page))}
        >
          <Plus size={14} strokeWidth={1.75} aria-hidden="true" />
          New chat
          <Shortcut keys={newKey} />
        </button>
      </header>
      <SearchField />
      {hits ? <SearchResults hits={hits} /> : <SessionList />}
      <footer className="side-footer">
        <IconButton
          name="Settings"
          icon={Settings}
          shortcut={openSettings.keys[0]}
          onClick={() => attempt(page, () => openSettings.run(page))}
        />
        <IconButton
          name="Hide sidebar"
          icon={PanelLeft}
          shortcut={toggleSidebar.keys[0]}
          onClick={() => attempt(page, () => toggleSidebar.run(page))}
        />
      </footer>
    </nav>
  );
}
