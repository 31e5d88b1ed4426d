/** The app from start to end in a real Electron: window state, second instance, start errors, and quitting while a reply streams. */
import { type ChildProcess, execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type BareShell, startBare } from "./bare.ts";
import {
  closeDisplay,
  makeDataFolder,
  obstacle,
  type Shell,
  startProcess,
  startShell,
  waitForStderr,
} from "./shell.ts";

const reason = obstacle();

function composer(shell: Shell) {
  return shell.page.getByRole("textbox", { name: /message|ask/i });
}

async function send(shell: Shell, text: string): Promise<void> {
  await composer(shell).fill(text);
  // Enabled once the page knows of a model.
  await shell.page.getByRole("button", { name: "Send" }).click();
}

function childrenOf(pid: number): number[] {
  const rows = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  return rows
    .map((row) => row.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid)
    .map(([id = 0]) => id);
}

function runs(pid: number): boolean {
  // A zombie has ended; only its parent has not looked yet.
  return existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

/** The exit code, or the signal that ended it. */
async function ended(child: ChildProcess): Promise<number | string | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode ?? child.signalCode;
}

/** Chromium's helpers go a moment after their parent; none may stay. */
function allGone(pids: number[]): Promise<void> {
  return vi.waitFor(() => expect(pids.filter(runs)).toEqual([]), { timeout: 5000 });
}

describe.skipIf(reason !== null)(`Electron: life${reason === null ? "" : ` (skipped: ${reason})`}`, () => {
  let data: string;
  let open: Shell[] = [];
  let processes: ChildProcess[] = [];

  beforeEach(() => {
    data = makeDataFolder();
  });
  afterEach(async () => {
    for (const shell of open) await shell.app.close();
    for (const child of processes) child.kill("SIGKILL");
    open = [];
    processes = [];
    rmSync(data, { recursive: true, force: true });
  });
  afterAll(closeDisplay);

  async function start(): Promise<Shell> {
    const shell = await startShell({ data, engine: "scripted" });
    open.push(shell);
    await composer(shell).waitFor();
    return shell;
  }

  async function startPlain(): Promise<ChildProcess> {
    const child = await startProcess({ data, engine: "scripted" });
    processes.push(child);
    return child;
  }

  test("a message is answered in the window, without a fault of the page", async () => {
    const shell = await start();
    await send(shell, "Grüße aus 模型 😀");
    await shell.page.getByText("You said: Grüße aus 模型 😀").waitFor();
    expect(shell.faults).toEqual([]);
  });

  async function bare(): Promise<BareShell> {
    const shell = await startBare({ data, engine: "scripted" });
    processes.push(shell.process);
    return shell;
  }

  /** Starts a reply that says this and hangs; settles when it is shown. Gives the processes that are then at work. */
  async function reply(
    { process: main, evaluate }: BareShell,
    words: string,
    hang: "cancellable" | "deaf",
  ): Promise<number[]> {
    const text = `script:[${JSON.stringify(words)},${JSON.stringify({ hang })}]`;
    await evaluate(`(async () => {
      let shown = "";
      const said = new Promise((done) => halogen.on(({ name, payload }) => {
        if (name === "message.delta" && (shown += payload.text) === ${JSON.stringify(words)}) done();
      }));
      const call = async (name, request) => {
        const result = await halogen.call(name, request);
        if (!result.ok) throw new Error(name + ": " + JSON.stringify(result.error));
        return result.reply;
      };
      await call("model.list", {});
      const { id } = await call("session.create", {});
      await call("chat.send", { sessionId: id, parentId: null, text: ${JSON.stringify(text)} });
      await said;
    })()`);
    return [main.pid ?? 0, ...childrenOf(main.pid ?? 0)];
  }

  test.each([
    ["the system asks it to end", "cancellable"],
    ["its window is closed", "cancellable"],
    ["its window is closed and the engine hears nothing", "deaf"],
  ] as const)("%s in a reply: what came is kept and marked, no process stays", async (way, hang) => {
    const first = await bare();
    const pids = await reply(first, "Kept words. ", hang);
    expect(pids.length).toBeGreaterThan(2);
    if (way.startsWith("its window")) await first.evaluate("void window.close()");
    else first.process.kill("SIGTERM");
    expect(await ended(first.process)).toBe(0);
    await allGone(pids);

    const stored = await (await bare()).evaluate(`(async () => {
      const { reply } = await halogen.call("session.list", {});
      return halogen.call("session.open", { sessionId: reply.sessions[0].id });
    })()`);
    const { messages } = (stored as { reply: { messages: unknown[] } }).reply;
    expect(messages.at(-1)).toMatchObject({
      role: "assistant",
      status: "interrupted",
      blocks: [{ type: "text", text: "Kept words. " }],
    });
  });

  test("the app killed with SIGKILL in a reply: no process stays, and the next start has the words", async () => {
    const shell = await start();
    await send(shell, 'script:["Written down. ",{"wait":400},"later",{"hang":"cancellable"}]');
    // What comes later is shown after what came before it was flushed, at most 250 ms after it was made.
    await shell.page.getByText("Written down. later", { exact: true }).waitFor();
    const main = shell.app.process();
    const pids = [main.pid ?? 0, ...childrenOf(main.pid ?? 0)];
    main.kill("SIGKILL");
    expect(await ended(main)).toBe("SIGKILL");
    open = [];
    await allGone(pids);
    const again = await start();
    await again.page
      .getByRole("button", { name: /Written down/ })
      .first()
      .click();
    await again.page.getByText(/^Written down\. l?a?t?e?r?$/).waitFor();
  });

  test("the engine's process killed in a reply: the page says so, the words stay, and the next message is answered", async () => {
    const shell = await start();
    await send(shell, 'script:["Before the end. ",{"hang":"cancellable"}]');
    await shell.page.getByText("Before the end.", { exact: true }).waitFor();
    const engine = await shell.app.evaluate(
      ({ app }) => app.getAppMetrics().find((metric) => metric.name === "Halogen engine")?.pid,
    );
    process.kill(engine ?? 0, "SIGKILL");
    await shell.page
      .getByText(/engine process .* while it was writing a reply/)
      .first()
      .waitFor();
    await shell.page.getByText("Before the end.", { exact: true }).waitFor();
    await send(shell, "and now?");
    await shell.page.getByText("You said: and now?").waitFor();
    const now = await shell.app.evaluate(
      ({ app }) => app.getAppMetrics().find((metric) => metric.name === "Halogen engine")?.pid,
    );
    expect(now).not.toBe(engine);
  });

  test("the page's process crashed: it is loaded again and shows what main has kept", async () => {
    const shell = await start();
    await send(shell, "remember me");
    await shell.page.getByText("You said: remember me").waitFor();
    const text = await shell.app.evaluate(async ({ BrowserWindow }) => {
      const contents = BrowserWindow.getAllWindows()[0]?.webContents;
      if (contents === undefined) throw new Error("no window");
      const loaded = new Promise<void>((done) => {
        contents.once("did-finish-load", () => done());
      });
      contents.forcefullyCrashRenderer();
      await loaded;
      return contents.executeJavaScript('halogen.call("session.list", {}).then((r) => r.reply.sessions[0].title)');
    });
    expect(text).toBe("remember me");
  });

  test("a second start brings the first one's window forward and ends", async () => {
    const shell = await start();
    await shell.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.minimize());
    const told = shell.app.evaluate(
      ({ app }) => new Promise<void>((done) => app.once("second-instance", () => done())),
    );
    const second = await startPlain();
    expect(await ended(second)).toBe(0);
    await told;
    expect(
      await shell.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().map((one) => one.isMinimized())),
    ).toEqual([false]);
  });

  test.each([
    ["not JSON", "{ x"],
    ["of other kinds", '{"x":"left","width":null}'],
    ["off every screen", '{"x":50000,"y":-9000,"width":900,"height":700,"maximized":false}'],
    ["without size", '{"x":0,"y":0,"width":0,"height":0,"maximized":false}'],
  ])("a window state %s still opens a window that can be reached", async (_name, text) => {
    writeFileSync(join(data, "window.json"), text);
    const shell = await start();
    const seen = await shell.app.evaluate(({ BrowserWindow, screen }) => {
      const window = BrowserWindow.getAllWindows()[0];
      return { visible: window?.isVisible(), bounds: window?.getBounds(), area: screen.getPrimaryDisplay().workArea };
    });
    expect(seen.visible).toBe(true);
    expect(seen.bounds?.x).toBeLessThan(seen.area.x + seen.area.width - 100);
    expect(seen.bounds?.y).toBeLessThan(seen.area.y + seen.area.height - 30);
    expect(seen.bounds?.y).toBeGreaterThanOrEqual(seen.area.y);
  });

  test("the window comes back where it was", async () => {
    const shell = await start();
    const bounds = { x: 60, y: 50, width: 812, height: 604 };
    await shell.app.evaluate(
      ({ BrowserWindow }, wanted) => BrowserWindow.getAllWindows()[0]?.setBounds(wanted),
      bounds,
    );
    await shell.app.evaluate(({ app }) => app.quit());
    await ended(shell.app.process());
    open = [];
    expect(JSON.parse(readFileSync(join(data, "window.json"), "utf8"))).toMatchObject({ width: 812, height: 604 });
    const again = await start();
    const size = await again.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getBounds());
    expect(size).toMatchObject({ width: 812, height: 604 });
  });

  test("chats of a newer version: the reason in words, and nothing is touched", async () => {
    const { default: Database } = await import("better-sqlite3");
    const shell = await start();
    await shell.app.close();
    open = [];
    const path = join(data, "halogen.db");
    const database = new Database(path);
    database.pragma("user_version = 9999");
    database.close();
    const before = readFileSync(path);
    const child = await startPlain();
    const text = await waitForStderr(child, /store\.newer_schema/);
    expect(text).toMatch(/9999/);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("chats that another program holds: the reason in words instead of no window", async () => {
    const { default: Database } = await import("better-sqlite3");
    const holder = new Database(join(data, "halogen.db"));
    holder.exec("CREATE TABLE t (x); BEGIN EXCLUSIVE");
    const child = await startPlain();
    expect(await waitForStderr(child, /store\.locked/)).toMatch(/halogen:/);
    holder.close();
  });

  test("a data folder with other letters, spaces and a picture in its name works", async () => {
    const special = join(data, "模型　é😀 dir");
    mkdirSync(join(special, "models"), { recursive: true });
    writeFileSync(join(special, "models", "名前 😀.gguf"), "GGUF");
    const shell = await startShell({ data: special, engine: "scripted" });
    open.push(shell);
    await composer(shell).waitFor();
    await send(shell, "hello");
    await shell.page.getByText("You said: hello").waitFor();
    expect(existsSync(join(special, "halogen.db"))).toBe(true);
  });
});
