/** The whole of main without a shell: real store and files, the scripted engine in a real process, everything through the service. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CallName, Reply, Request } from "../../../app/contract/call.ts";
import type { AnyEvent, EventName, EventPayload } from "../../../app/contract/event.ts";
import { noSampling } from "../../../app/contract/session.ts";
import { type Application, type ApplicationOptions, createApplication } from "../../../main/application.ts";
import { createNodeSpawn } from "../../../main/engine/spawn.ts";
import { readEnvironment } from "../../../main/setting/environment.ts";

const root = resolve(import.meta.dirname, "../../..");
const catalogue = {
  version: 1,
  entries: [
    {
      id: "small",
      name: "Small",
      description: "",
      licence: "MIT",
      starter: true,
      file: "Small.gguf",
      bytes: 4,
      sha256: "0".repeat(64),
      sources: [{ kind: "http", label: "nowhere", url: "http://127.0.0.1:9/Small.gguf" }],
    },
  ],
};

let data: string;
let open: Application[];
let reports: unknown[];

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "halogen-app-"));
  mkdirSync(join(data, "models"));
  writeFileSync(join(data, "models", "Scripted.gguf"), "GGUF");
  open = [];
  reports = [];
});
afterEach(async () => {
  for (const application of open) await application.close();
  rmSync(data, { recursive: true, force: true });
});

function start(mode: ApplicationOptions["mode"] = "app") {
  const variables = {
    HALOGEN_DATA: data,
    HALOGEN_ENGINE: join(root, "test/fixtures/scripted-engine-child.ts"),
  };
  const application = createApplication({
    environment: readEnvironment(variables, process.platform, data),
    variables,
    version: "1.2.3",
    shell: "browser",
    catalogue,
    mode,
    probeThread: join(root, "main/chat/probe-thread.ts"),
    clock: () => Date.now(),
    report: (error) => reports.push(error),
    spawnEngine: (argument) => createNodeSpawn({ entry: join(root, "main/engine/child.ts"), ...argument }),
  });
  open.push(application);
  const events: AnyEvent[] = [];
  const watchers = new Set<(event: AnyEvent) => void>();
  application.service.subscribe((event) => {
    events.push(event);
    for (const watcher of [...watchers]) watcher(event);
  });
  return {
    application,
    events,
    call: <N extends CallName>(name: N, request: Request<N>) =>
      application.service.handle(name, request) as Promise<Reply<N>>,
    /** The first event of this name, from now on, that fits. */
    next<N extends EventName>(name: N, fits: (payload: EventPayload<N>) => boolean = () => true) {
      return new Promise<EventPayload<N>>((done) => {
        const watcher = (event: AnyEvent) => {
          if (event.name !== name || !fits(event.payload as EventPayload<N>)) return;
          watchers.delete(watcher);
          done(event.payload as EventPayload<N>);
        };
        watchers.add(watcher);
      });
    },
  };
}

type Started = ReturnType<typeof start>;

async function newChat({ call }: Started): Promise<string> {
  await call("model.list", {});
  return (await call("session.create", {})).id;
}

const ended = (payload: EventPayload<"message.changed">) =>
  payload.role === "assistant" && payload.status !== "streaming";

async function ask(started: Started, sessionId: string, text: string, parentId: string | null = null) {
  const reply = started.next("message.changed", ended);
  await started.call("chat.send", { sessionId, parentId, text });
  return reply;
}

/** Starts a reply that says this and then goes on for ever; settles when all of it has been shown. */
async function begin(started: Started, sessionId: string, words: string, hang = "cancellable") {
  let shown = "";
  const said = started.next("message.delta", ({ text }) => {
    shown += text;
    return shown === words;
  });
  const text = `script:[${JSON.stringify(words)},{"hang":"${hang}"}]`;
  const { reply } = await started.call("chat.send", { sessionId, parentId: null, text });
  await said;
  return reply;
}

describe("a conversation", () => {
  test("a message sent before the model folders were looked at waits for them", async () => {
    const started = start();
    const { id } = await started.call("session.create", {});
    const { status, error } = await ask(started, id, "hello");
    expect({ status, error }).toEqual({ status: "complete", error: null });
  });

  test("is answered, streamed, stored, and there after a restart", async () => {
    const first = start();
    const sessionId = await newChat(first);
    const reply = await ask(first, sessionId, "hello");
    expect(reply).toMatchObject({ status: "complete", blocks: [{ type: "text", text: "You said: hello" }] });
    const streamed = first.events.flatMap((event) => (event.name === "message.delta" ? [event.payload.text] : []));
    expect(streamed.join("")).toBe("You said: hello");
    await first.application.close();

    const second = start();
    const { sessions } = await second.call("session.list", {});
    expect(sessions).toMatchObject([{ id: sessionId, title: "hello", messageCount: 2, headId: reply.id }]);
    const { messages } = await second.call("session.open", { sessionId });
    expect(messages.at(-1)).toEqual(reply);
    expect((await second.call("session.search", { query: "said" })).hits).toMatchObject([
      { sessionId, messageId: reply.id },
    ]);
    expect(reports).toEqual([]);
  });

  test("select shows the branch down to its newest leaf", async () => {
    const started = start();
    const sessionId = await newChat(started);
    const first = await ask(started, sessionId, "one");
    const leaf = await ask(started, sessionId, "two", first.id);
    const other = await ask(started, sessionId, "three");
    expect((await started.call("session.list", {})).sessions[0]?.headId).toBe(other.id);
    const session = await started.call("session.select", { sessionId, messageId: first.parentId ?? "" });
    expect(session.headId).toBe(leaf.id);
    await expect(started.call("session.select", { sessionId, messageId: "none" })).rejects.toMatchObject({
      code: "message.not_found",
    });
  });

  test("a patch of the sampling changes what it names and nothing else", async () => {
    const { call } = start();
    const sessionId = (await call("session.create", { system: "be brief" })).id;
    await call("session.update", { sessionId, sampling: { temperature: 0.5, seed: 7 } });
    const session = await call("session.update", {
      sessionId,
      pinned: true,
      sampling: { seed: null, topK: undefined },
    });
    expect(session).toMatchObject({ system: "be brief", pinned: true, titled: false });
    expect(session.sampling).toEqual({ ...noSampling, temperature: 0.5 });
    expect(await call("session.update", { sessionId, title: "  Named  " })).toMatchObject({
      title: "Named",
      titled: true,
    });
  });

  test("deleting a chat ends its reply first; restoring brings everything back", async () => {
    const started = start();
    const sessionId = await newChat(started);
    await begin(started, sessionId, "Going ");
    const removed = started.next("session.removed");
    await started.call("session.delete", { sessionId });
    expect(await removed).toEqual({ sessionId });
    await expect(started.call("session.open", { sessionId })).rejects.toMatchObject({ code: "session.not_found" });
    await started.call("session.restore", { sessionId });
    const { messages } = await started.call("session.open", { sessionId });
    expect(messages.at(-1)).toMatchObject({ status: "stopped", blocks: [{ text: "Going " }] });
  });
});

describe("the end", () => {
  test.each(["cancellable", "deaf"])(
    "while a reply streams (%s engine) keeps it, marked, within seconds",
    async (hang) => {
      const first = start();
      const sessionId = await newChat(first);
      const { id } = await begin(first, sessionId, "Kept words. ", hang);
      const pid = first.application.engine.pid() ?? 0;
      const begun = performance.now();
      await first.application.close();
      // A limit, not a measurement: the engine has 3 s to end by itself.
      expect(performance.now() - begun).toBeLessThan(8000);
      expect(existsSync(`/proc/${pid}`)).toBe(false);
      const { messages } = await start().call("session.open", { sessionId });
      expect(messages.find((message) => message.id === id)).toMatchObject({
        status: "interrupted",
        blocks: [{ text: "Kept words. " }],
      });
      expect(reports).toEqual([]);
    },
  );

  test("may be asked for twice, and refuses what comes after", async () => {
    const { application, call } = start();
    const sessionId = (await call("session.create", {})).id;
    await Promise.all([application.close(), application.close()]);
    await expect(call("chat.send", { sessionId, parentId: null, text: "x" })).rejects.toMatchObject({
      code: "request.cancelled",
    });
  });

  test("during the first look at the models is no fault", async () => {
    const { application } = start();
    await application.close();
    expect(reports).toEqual([]);
  });
});

describe("the engine", () => {
  test("killed in a reply: the reply is kept with the cause, and the next message works", async () => {
    const started = start();
    const sessionId = await newChat(started);
    const reply = started.next("message.changed", ended);
    const { id } = await begin(started, sessionId, "Partial. ");
    process.kill(started.application.engine.pid() ?? 0, "SIGKILL");
    expect(await reply).toMatchObject({
      id,
      status: "interrupted",
      error: { code: "engine.crashed" },
      blocks: [{ text: "Partial. " }],
    });
    expect(await ask(started, sessionId, "again", id)).toMatchObject({
      status: "complete",
      blocks: [{ text: "You said: again" }],
    });
    expect(await started.call("engine.status", {})).toMatchObject({
      state: "ready",
      restarts: 1,
      lastCrash: { code: "engine.crashed" },
    });
    const states = started.events.flatMap((event) => (event.name === "engine.changed" ? [event.payload.state] : []));
    expect(states).toContain("restarting");
  });

  test("restarted on the user's wish: another process, and the chat goes on", async () => {
    const started = start();
    const sessionId = await newChat(started);
    await ask(started, sessionId, "hello");
    const before = started.application.engine.pid();
    expect(await started.call("engine.restart", {})).toMatchObject({ state: "ready", modelId: null });
    expect(started.application.engine.pid()).not.toBe(before);
    expect((await started.call("model.list", {})).models).toMatchObject([{ state: "available" }]);
    expect(await ask(started, sessionId, "again")).toMatchObject({ status: "complete" });
  });

  test("names the loaded model by the library's id, and loads the one of new chats ahead", async () => {
    const started = start();
    const model = await started.next("model.changed", (payload) => payload.state === "loaded");
    expect(await started.call("engine.status", {})).toMatchObject({ modelId: model.id, backend: "cpu" });
    expect(await started.call("telemetry.read", {})).toMatchObject({ modelId: model.id, contextLength: 2048 });
  });
});

describe("start", () => {
  test("a second one on the same data is refused in words and leaves the first alone", async () => {
    const first = start();
    expect(() => start()).toThrow(expect.objectContaining({ code: "store.locked" }));
    expect(await first.call("session.list", {})).toEqual({ sessions: [] });
  });

  test("a command needs no lock and leaves no file", async () => {
    const first = start("command");
    await first.call("session.create", {});
    expect(readdirSync(data)).not.toContain("halogen.db");
    const app = start();
    const second = start("command");
    expect(await second.call("session.list", {})).toEqual({ sessions: [] });
    expect(await app.call("session.list", {})).toEqual({ sessions: [] });
    await expect(second.call("download.start", { entryId: "small" })).rejects.toMatchObject({
      code: "download.failed",
    });
  });

  test("a damaged settings file costs the settings, not the start, and is told once", async () => {
    writeFileSync(join(data, "settings.json"), "{ x");
    const started = start();
    const notice = started.next("notice");
    await started.call("app.info", {});
    expect(await notice).toMatchObject({ level: "warning" });
    await started.call("app.info", {});
    expect(started.events.filter((event) => event.name === "notice")).toHaveLength(1);
    expect(await started.call("setting.update", { theme: "dark" })).toMatchObject({ theme: "dark" });
    expect(started.events).toContainEqual({
      name: "setting.changed",
      payload: expect.objectContaining({ theme: "dark" }),
    });
  });

  test("a damaged cache of inspections is reported and made anew", async () => {
    mkdirSync(join(data, "cache", "inspection.json"), { recursive: true });
    const started = start();
    expect((await started.call("model.list", {})).models).toHaveLength(1);
    expect(reports.length).toBeGreaterThan(0);
  });
});

test("a model that comes while the app runs is listed by itself", async () => {
  const started = start();
  await started.call("model.list", {});
  const found = started.next("model.changed", (model) => model.fileName === "Later 模型.gguf");
  writeFileSync(join(data, "models", "Later 模型.gguf"), "GGUF");
  expect(await found).toMatchObject({ state: "available" });
});
