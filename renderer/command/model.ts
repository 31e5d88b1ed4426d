import type { Model } from "../../app/contract/model.ts";
import type { DocumentState } from "../store/document.ts";
import type { Page } from "../store/page.ts";
import type { UiState } from "../store/ui.ts";
import { currentSession, putSession } from "./session.ts";

/** The model of a chat that names none: the default of the settings, else the loaded one, else the first that works. */
export function fallbackModel(state: DocumentState): Model | null {
  const usable = [...state.models.values()].filter((model) => model.state !== "broken");
  const chosen = usable.find((model) => model.id === state.settings?.defaultModelId);
  return (
    chosen ??
    usable.find((model) => model.state === "loaded") ??
    usable.find((model) => model.state === "loading") ??
    usable[0] ??
    null
  );
}

export function firstModel(page: Page): Model | null {
  return fallbackModel(page.document.getState());
}

/** The model the shown chat will answer with; null when there is none or its file has gone. */
export function chatModel(state: DocumentState, ui: Pick<UiState, "sessionId" | "newChat">): Model | null {
  const session = ui.sessionId === null ? undefined : state.sessions.get(ui.sessionId);
  const id = session ? session.modelId : ui.newChat.modelId;
  return (id === null ? undefined : state.models.get(id)) ?? fallbackModel(state);
}

/** Chooses it for the shown chat and loads it, so that the first answer need not wait. */
export async function chooseModel(page: Page, model: Model): Promise<void> {
  page.ui.setState({ open: null });
  const session = currentSession(page);
  if (session) putSession(page, await page.client.call("session.update", { sessionId: session.id, modelId: model.id }));
  else page.ui.setState((state) => ({ newChat: { ...state.newChat, modelId: model.id } }));
  if (model.state === "available") await page.client.call("model.load", { modelId: model.id });
}

export async function unloadModel(page: Page, model: Model): Promise<void> {
  await page.client.call("model.unload", { modelId: model.id });
}

export async function scanModels(page: Page): Promise<void> {
  const { models } = await page.client.call("model.scan", {});
  page.document.setState({ models: new Map(models.map((model) => [model.id, model])) });
}

export async function startDownload(page: Page, entryId: string): Promise<void> {
  const download = await page.client.call("download.start", { entryId });
  page.document.setState((state) => ({ downloads: new Map(state.downloads).set(download.id, download) }));
}

export async function cancelDownload(page: Page, downloadId: string): Promise<void> {
  await page.client.call("download.cancel", { downloadId });
}

export async function restartEngine(page: Page): Promise<void> {
  page.document.setState({ engine: await page.client.call("engine.restart", {}) });
}
