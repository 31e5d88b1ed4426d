/** Composition of the page: client -> stores -> mirror -> view. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import type { Client } from "../app/contract/client.ts";
import { hashOfSession, sessionOfHash } from "./logic/address.ts";
import { mirror } from "./store/mirror.ts";
import { createPage, type Page } from "./store/page.ts";
import { App } from "./view/app.tsx";
import { PageProvider } from "./view/page.ts";
import "./style/all.css";

/** Frames stop in a hidden window, replies do not: there a slow timer takes over. */
function inNextFrame(flush: () => void): void {
  if (document.hidden) setTimeout(flush, 250);
  else requestAnimationFrame(flush);
}

export function mount(client: Client, element: HTMLElement): Page {
  const page = createPage({
    client,
    sessionId: sessionOfHash(location.hash),
    mac: /Mac/.test(navigator.platform),
    schedule: inNextFrame,
    clock: () => performance.now(),
  });
  page.ui.subscribe((state, before) => {
    if (state.sessionId !== before.sessionId) history.replaceState(null, "", hashOfSession(state.sessionId));
  });
  mirror(page);
  createRoot(element).render(
    <StrictMode>
      <PageProvider value={page}>
        <App />
      </PageProvider>
    </StrictMode>,
  );
  return page;
}
