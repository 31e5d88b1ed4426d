/** How views reach the page: one context, and a hook for each scope of state. */
import { createContext, useContext } from "react";
import { useStore } from "zustand";
import type { DocumentState } from "../store/document.ts";
import type { LiveState } from "../store/live.ts";
import type { Page } from "../store/page.ts";
import type { UiState } from "../store/ui.ts";

const PageContext = createContext<Page | null>(null);
export const PageProvider = PageContext.Provider;

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("usePage outside of a PageProvider");
  return page;
}

export function useDocument<T>(selector: (state: DocumentState) => T): T {
  return useStore(usePage().document, selector);
}

export function useUi<T>(selector: (state: UiState) => T): T {
  return useStore(usePage().ui, selector);
}

export function useLive<T>(selector: (state: LiveState) => T): T {
  return useStore(usePage().live, selector);
}
