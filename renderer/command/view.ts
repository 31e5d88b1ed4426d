import type { Settings } from "../../app/contract/setting.ts";
import type { Page } from "../store/page.ts";
import { stop } from "./chat.ts";
import type { Command } from "./command.ts";
import { clearSearch } from "./search.ts";

export const toggleSidebar: Command = {
  id: "view.sidebar",
  label: "Show or hide the sidebar",
  keys: ["Mod+B"],
  enabled: () => true,
  run: (page) => page.ui.setState((state) => ({ sidebar: !state.sidebar })),
};

export const openSettings: Command = {
  id: "view.settings",
  label: "Settings",
  keys: ["Mod+,"],
  enabled: () => true,
  run: (page) => page.ui.setState({ open: "settings" }),
};

export const chooseModelCommand: Command = {
  id: "view.model",
  label: "Choose a model",
  keys: ["Mod+M"],
  enabled: (page) => page.document.getState().models.size > 0,
  run: (page) => page.ui.setState({ open: "model" }),
};

/** One key, the nearest thing first: an edit, a search, then the reply that streams. Popovers close themselves. */
export const closeOrStop: Command = {
  id: "view.escape",
  label: "Close, or stop the reply",
  keys: ["Escape"],
  enabled: (page) => page.ui.getState().open === null,
  run(page) {
    const { editingId, query } = page.ui.getState();
    if (editingId !== null) page.ui.setState({ editingId: null });
    else if (query !== "") clearSearch(page);
    else if (stop.enabled(page)) return stop.run(page);
    return undefined;
  },
};

export async function changeSettings(page: Page, patch: Partial<Settings>): Promise<void> {
  page.document.setState({ settings: await page.client.call("setting.update", patch) });
}
