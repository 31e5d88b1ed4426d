/** What happens in main while the page reads everything must not be put back by a list that was made before it. */
import { expect, test, vi } from "vitest";
import { mirror } from "../../../../renderer/store/mirror.ts";
import { createPage } from "../../../../renderer/store/page.ts";
import { defaultSettings, idleTelemetry } from "../../../fixtures/page/sample.ts";
import { createDouble, info, makeSession } from "../../contract/double.ts";
import { ipcTransport } from "../../contract/transport.ts";

test("a chat that is made while the first look at the models goes on is in the list afterwards", async () => {
  const double = createDouble();
  let finishScan: () => void = () => undefined;
  double.set("app.info", async () => info);
  double.set("setting.read", async () => defaultSettings);
  double.set("session.list", async () => ({ sessions: [makeSession("old")] }));
  double.set("model.list", () => new Promise((done) => (finishScan = () => done({ models: [] }))));
  double.set("catalogue.list", async () => ({ entries: [] }));
  double.set("download.list", async () => ({ downloads: [] }));
  double.set("engine.status", async () => ({
    state: "starting",
    restarts: 0,
    lastCrash: null,
    backend: null,
    devices: [],
    modelId: null,
    inProcess: false,
  }));
  double.set("telemetry.read", async () => idleTelemetry);
  const { client, close } = await ipcTransport.open(double.service);
  const page = createPage({ client, sessionId: null, mac: false, schedule: (run) => run(), clock: () => 0 });
  const stop = mirror(page);
  await vi.waitFor(() => expect(double.seen.map(({ name }) => name)).toContain("telemetry.read"));
  double.emit({ name: "session.changed", payload: makeSession("new") });
  double.emit({ name: "session.removed", payload: { sessionId: "old" } });
  finishScan();
  await vi.waitFor(() => expect(page.document.getState().ready).toBe(true));
  expect([...page.document.getState().sessions.keys()]).toEqual(["new"]);
  // From now on events are taken as they come.
  double.emit({ name: "session.changed", payload: makeSession("later") });
  expect([...page.document.getState().sessions.keys()]).toEqual(["new", "later"]);
  stop();
  await close();
});
