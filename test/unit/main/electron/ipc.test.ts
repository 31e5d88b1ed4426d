import { expect, test } from "vitest";
import { createBridge } from "../../../../main/electron/bridge.ts";
import { type Frame, serveIpc } from "../../../../main/electron/ipc.ts";
import { createDouble, info, makeSession } from "../../contract/double.ts";
import { joinedIpc, pageUrl } from "../../contract/transport.ts";

const isPage = (url: string) => url === pageUrl;

test.each<[string, Frame | null]>([
  ["from elsewhere", { url: "https://evil.example/", parent: null }],
  ["without an address", { url: "", parent: null }],
  ["of a blank page", { url: "about:blank", parent: null }],
  ["inside the page", { url: pageUrl, parent: {} }],
  ["that is gone", null],
])("a frame %s is refused before its request is looked at", async (_name, frame) => {
  const double = createDouble();
  double.set("app.info", async () => info);
  const joined = joinedIpc(frame);
  serveIpc({ ipc: joined.ipcMain, service: double.service, isPage });
  const result = await createBridge(joined.ipcRenderer).call("app.info", {});
  expect(result).toMatchObject({ ok: false, error: { code: "transport.unauthorised" } });
  expect(double.seen).toEqual([]);
});

test.each([[undefined], [null], [7], [{ toString: () => "app.info" }], [["app.info"]]])(
  "a name that is %j reaches no handler",
  async (name) => {
    const double = createDouble();
    const joined = joinedIpc();
    const handlers: Parameters<typeof joined.ipcMain.handle>[1][] = [];
    serveIpc({
      ipc: { ...joined.ipcMain, handle: (_channel, listener) => handlers.push(listener) },
      service: double.service,
      isPage,
    });
    const result = await handlers[0]?.({ senderFrame: { url: pageUrl, parent: null } }, name, {});
    expect(result).toMatchObject({ ok: false, error: { code: "transport.unknown_call" } });
  },
);

test("the bridge hands on the event alone, never Electron's sender", () => {
  const joined = joinedIpc();
  const seen: unknown[][] = [];
  const stop = createBridge(joined.ipcRenderer).on((...values: unknown[]) => seen.push(values));
  joined.renderer.emit("halogen:event", { sender: "ipcRenderer" }, { name: "notice" });
  stop();
  joined.renderer.emit("halogen:event", { sender: "ipcRenderer" }, { name: "late" });
  expect(seen).toEqual([[{ name: "notice" }]]);
});

test("a window that was destroyed is sent nothing and is forgotten", () => {
  const double = createDouble();
  const joined = joinedIpc();
  const sent: unknown[] = [];
  let destroyed = false;
  const contents = Object.assign(joined.contents, {
    send: (_channel: string, value: unknown) => void sent.push(value),
    isDestroyed: () => destroyed,
  });
  const ipc = serveIpc({ ipc: joined.ipcMain, service: double.service, isPage });
  ipc.attach(contents);
  double.emit({ name: "session.changed", payload: makeSession("1") });
  destroyed = true;
  double.emit({ name: "session.changed", payload: makeSession("2") });
  contents.emit("destroyed");
  destroyed = false;
  double.emit({ name: "session.changed", payload: makeSession("3") });
  expect(sent).toMatchObject([{ payload: { id: "1" } }]);
});

test("after close nothing is handled or sent any more", async () => {
  const double = createDouble();
  const joined = joinedIpc();
  const ipc = serveIpc({ ipc: joined.ipcMain, service: double.service, isPage });
  const events: unknown[] = [];
  createBridge(joined.ipcRenderer).on((event) => events.push(event));
  ipc.attach(joined.contents);
  ipc.close();
  double.emit({ name: "session.changed", payload: makeSession("1") });
  expect(events).toEqual([]);
  await expect(createBridge(joined.ipcRenderer).call("app.info", {})).rejects.toThrow("No handler");
});
