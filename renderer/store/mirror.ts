/** Keeps the document and live stores equal to main's state: reads everything at each (re)connection, then follows the events. */
import type { EventName, EventPayload } from "../../app/contract/event.ts";
import type { Message } from "../../app/contract/message.ts";
import { formatCount } from "../../app/number.ts";
import { withEntry, withoutEntry } from "./document.ts";
import { type Page, report } from "./page.ts";
import { addToast, emptyNewChat } from "./ui.ts";

function byId<T extends { id: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}

/** Reads what every view needs, and again after a lost connection. `done` is called as soon as it stands, before the shown chat is read. */
async function readAll(page: Page, done: () => void): Promise<void> {
  const { client, document } = page;
  const [info, settings, sessions, models, catalogue, downloads, engine, telemetry] = await Promise.all([
    client.call("app.info", {}),
    client.call("setting.read", {}),
    client.call("session.list", {}),
    client.call("model.list", {}),
    client.call("catalogue.list", {}),
    client.call("download.list", {}),
    client.call("engine.status", {}),
    client.call("telemetry.read", {}),
  ]);
  document.setState({
    info,
    settings,
    sessions: byId(sessions.sessions),
    models: byId(models.models),
    catalogue: catalogue.entries,
    downloads: byId(downloads.downloads),
    engine,
    messages: new Map(),
    ready: true,
    connection: "open",
  });
  page.live.clear();
  page.live.telemetry(telemetry);
  done();
  const { sessionId } = page.ui.getState();
  if (sessionId === null) return;
  if (sessions.sessions.some((session) => session.id === sessionId)) await openSession(page, sessionId);
  else page.ui.setState({ sessionId: null });
}

/** Reads a session's messages; while it is being read, a second request waits for the first. */
export function openSession(page: Page, sessionId: string): Promise<void> {
  const running = page.opening.get(sessionId);
  if (running) return running.reading;
  const arrived: Message[] = [];
  const reading = readSession(page, sessionId, arrived).finally(() => page.opening.delete(sessionId));
  page.opening.set(sessionId, { reading, arrived });
  return reading;
}

async function readSession(page: Page, sessionId: string, arrived: Message[]): Promise<void> {
  const { session, messages } = await page.client.call("session.open", { sessionId });
  const all = new Map([...messages, ...arrived].map((message) => [message.id, message]));
  for (const message of all.values()) {
    if (message.status === "streaming") page.live.begin(message);
    else page.live.end(message.id);
  }
  page.document.setState((state) => ({
    sessions: withEntry(state.sessions, session.id, session),
    messages: withEntry(state.messages, session.id, all),
  }));
}

/** Puts a message where it belongs, if its session is open here. */
export function putMessage(page: Page, message: Message): void {
  page.opening.get(message.sessionId)?.arrived.push(message);
  const known = page.document.getState().messages.get(message.sessionId);
  const before = known?.get(message.id);
  if (message.status === "streaming") page.live.begin(message);
  if (known) {
    const next = withEntry(known, message.id, message);
    page.document.setState((state) => ({ messages: withEntry(state.messages, message.sessionId, next) }));
  }
  if (message.status === "streaming") return;
  page.live.end(message.id);
  if (before?.status === "streaming") announceEnd(page, message);
}

function announceEnd(page: Page, message: Message): void {
  if (page.ui.getState().sessionId !== message.sessionId) return;
  const tokens = message.stats ? `, ${formatCount(message.stats.generatedTokens)} tokens` : "";
  const said: Record<Message["status"], string> = {
    complete: `Reply finished${tokens}.`,
    stopped: `Reply stopped${tokens}.`,
    length: `Reply ended at its limit${tokens}.`,
    interrupted: "Reply interrupted.",
    failed: `Reply failed. ${message.error?.message ?? ""}`,
    streaming: "",
  };
  page.ui.setState({ announcement: said[message.status] });
}

function takeDelta(page: Page, delta: EventPayload<"message.delta">): void {
  if (page.live.delta(delta) || !page.document.getState().messages.has(delta.sessionId)) return;
  openSession(page, delta.sessionId).catch((error: unknown) => report(page, error));
}

function removeSession(page: Page, sessionId: string): void {
  page.document.setState((state) => ({
    sessions: withoutEntry(state.sessions, sessionId),
    messages: withoutEntry(state.messages, sessionId),
  }));
  if (page.ui.getState().sessionId === sessionId)
    page.ui.setState({ sessionId: null, newChat: emptyNewChat, editingId: null });
}

async function modelsChanged(page: Page): Promise<void> {
  const { entries } = await page.client.call("catalogue.list", {});
  page.document.setState({ catalogue: entries });
}

/** Returns what undoes it. */
export function mirror(page: Page): () => void {
  const { client, document, live, ui } = page;
  const fail = (error: unknown) => report(page, error);
  // While everything is read, events wait: a list that was made before them must not put them back.
  let held: (() => void)[] | null = null;
  const release = () => {
    const waiting = held ?? [];
    held = null;
    for (const take of waiting) take();
  };
  const follow = <N extends EventName>(name: N, take: (payload: EventPayload<N>) => void) =>
    client.on(name, (payload) => {
      if (held === null) take(payload);
      else held.push(() => take(payload));
    });
  const undo = [
    client.onConnection((connection) => {
      if (connection !== "open") {
        document.setState({ connection });
        return;
      }
      held ??= [];
      readAll(page, release).catch(fail).finally(release);
    }),
    follow("session.changed", (session) =>
      document.setState((state) => ({ sessions: withEntry(state.sessions, session.id, session) })),
    ),
    follow("session.removed", ({ sessionId }) => removeSession(page, sessionId)),
    follow("message.changed", (message) => putMessage(page, message)),
    follow("message.delta", (delta) => takeDelta(page, delta)),
    follow("message.progress", (progress) => live.progress(progress)),
    follow("model.changed", (model) =>
      document.setState((state) => ({ models: withEntry(state.models, model.id, model) })),
    ),
    follow("model.removed", ({ modelId }) =>
      document.setState((state) => ({ models: withoutEntry(state.models, modelId) })),
    ),
    follow("download.changed", (download) => {
      document.setState((state) => ({ downloads: withEntry(state.downloads, download.id, download) }));
      if (download.state === "done") modelsChanged(page).catch(fail);
    }),
    follow("engine.changed", (engine) => document.setState({ engine })),
    follow("telemetry.changed", (telemetry) => live.telemetry(telemetry)),
    follow("setting.changed", (settings) => document.setState({ settings })),
    client.on("notice", (notice) => addToast(ui, { ...notice, action: null })),
  ];
  return () => {
    for (const stop of undo) stop();
  };
}
