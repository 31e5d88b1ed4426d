import { type Page, report } from "../store/page.ts";
import type { Command } from "./command.ts";

export const searchFieldId = "search-field";
const hitLimit = 60;

export const focusSearch: Command = {
  id: "search.focus",
  label: "Search everything",
  keys: ["Mod+K"],
  enabled: () => true,
  run(page) {
    page.ui.setState({ sidebar: true });
    // At once where the field is there, so that no typed letter is lost; a sidebar that was hidden is drawn first.
    if (!takeFocus()) requestAnimationFrame(takeFocus);
  },
};

function takeFocus(): boolean {
  const field = document.getElementById(searchFieldId);
  if (!(field instanceof HTMLInputElement)) return false;
  field.focus();
  field.select();
  return document.activeElement === field;
}

/** Asks main and keeps the answer, unless the query has changed meanwhile. */
export async function search(page: Page, query: string): Promise<void> {
  try {
    const { hits } = await page.client.call("session.search", { query: query.trim().slice(0, 1000), limit: hitLimit });
    if (page.ui.getState().query === query) page.ui.setState({ hits });
  } catch (error) {
    if (page.ui.getState().query === query) page.ui.setState({ hits: [] });
    report(page, error);
  }
}

export function clearSearch(page: Page): void {
  page.ui.setState({ query: "", hits: null });
}
