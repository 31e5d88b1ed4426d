/** What every page in this app is kept from: other addresses, new windows, webviews, permissions, and the network. */
import type { App, Session, Shell, WebContents } from "electron";
import { isOutside, isPage } from "./address.ts";

/** Copying a reply is the one thing the page may ask the system for. */
const permitted = new Set(["clipboard-sanitized-write"]);

export function guardContents(app: App, shell: Shell, report: (error: unknown) => void): void {
  app.on("web-contents-created", (_event, contents) => guardOne(contents, shell, report));
}

function guardOne(contents: WebContents, shell: Shell, report: (error: unknown) => void): void {
  const openOutside = (address: string) => {
    if (isOutside(address)) shell.openExternal(address).catch(report);
  };
  const keep = (event: { preventDefault(): void }, address: string) => {
    // Reloading our own page counts as navigation, too.
    if (isPage(address)) return;
    event.preventDefault();
    openOutside(address);
  };
  contents.on("will-navigate", keep);
  contents.on("will-redirect", (event, address) => {
    if (!isPage(address)) event.preventDefault();
  });
  contents.on("will-attach-webview", (event) => event.preventDefault());
  contents.setWindowOpenHandler(({ url }) => {
    openOutside(url);
    return { action: "deny" };
  });
}

export function guardSession(session: Session): void {
  session.setPermissionRequestHandler((contents, permission, decide) => {
    decide(permitted.has(permission) && isPage(contents.getURL()));
  });
  session.setPermissionCheckHandler((_contents, permission, origin) => permitted.has(permission) && isPage(origin));
  // The policy of the page forbids this already; this also holds for what is not under a policy.
  const remote = { urls: ["http://*/*", "https://*/*", "ws://*/*", "wss://*/*", "ftp://*/*"] };
  session.webRequest.onBeforeRequest(remote, (_details, decide) => decide({ cancel: true }));
  session.on("will-download", (event) => event.preventDefault());
}
