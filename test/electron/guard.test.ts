/** What the page inside a real Electron can reach, and what it cannot. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Bridge } from "../../app/contract/channel.ts";
import { closeDisplay, makeDataFolder, obstacle, type Shell, startShell } from "./shell.ts";

const reason = obstacle();

declare global {
  // In the page; set by the preload script.
  var halogen: Bridge | undefined;
}

describe.skipIf(reason !== null)(`Electron: guard${reason === null ? "" : ` (skipped: ${reason})`}`, () => {
  const data = makeDataFolder();
  let shell: Shell;

  beforeAll(async () => {
    shell = await startShell({ data, engine: "scripted" });
    await shell.page.getByRole("textbox", { name: /message|ask/i }).waitFor();
  });
  afterAll(async () => {
    await shell?.app.close();
    await closeDisplay();
    rmSync(data, { recursive: true, force: true });
  });

  test("the window is isolated, sandboxed and without Node", async () => {
    const preferences = await shell.app.evaluate(({ BrowserWindow }) => {
      // Not in Electron's types, though its own tests rely on it.
      const contents = BrowserWindow.getAllWindows()[0]?.webContents as unknown as {
        getLastWebPreferences(): Record<string, unknown>;
      };
      return contents.getLastWebPreferences();
    });
    expect(preferences).toMatchObject({
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webSecurity: true,
    });
    expect(preferences.webviewTag ?? false).toBe(false);
    const globals = await shell.page.evaluate(() =>
      ["require", "process", "module", "Buffer", "global", "__dirname", "electron"].filter(
        (name) => name in globalThis,
      ),
    );
    expect(globals).toEqual([]);
  });

  test("the bridge is two functions, frozen", async () => {
    const bridge = await shell.page.evaluate(() => ({
      keys: Object.keys(window.halogen ?? {}),
      kinds: Object.values(window.halogen ?? {}).map((value) => typeof value),
    }));
    expect(bridge).toEqual({ keys: ["call", "on"], kinds: ["function", "function"] });
  });

  test("calls over the real bridge: reply, refusals, events", async () => {
    const answers = await shell.page.evaluate(async () => {
      const bridge = window.halogen;
      if (bridge === undefined) throw new Error("no bridge");
      const event = new Promise((resolve) => {
        const stop = bridge.on((value) => {
          if ((value as { name: string }).name !== "session.changed") return;
          stop();
          resolve(value);
        });
      });
      return {
        info: await bridge.call("app.info", {}),
        unknown: await bridge.call("app.explode", {}),
        invalid: await bridge.call("session.open", { sessionId: 7 }),
        created: await bridge.call("session.create", { system: "模型　é😀" }),
        event: await event,
      };
    });
    expect(answers.info).toMatchObject({ ok: true, reply: { shell: "electron" } });
    expect(answers.unknown).toMatchObject({ ok: false, error: { code: "transport.unknown_call" } });
    expect(answers.invalid).toMatchObject({
      ok: false,
      error: { code: "request.invalid", detail: { path: "sessionId" } },
    });
    expect(answers.created).toMatchObject({ ok: true, reply: { system: "模型　é😀" } });
    expect(answers.event).toMatchObject({ name: "session.changed", payload: { system: "模型　é😀" } });
  });

  test("the page's policy: no code from text, nothing from elsewhere", async () => {
    const results = await shell.page.evaluate(async () => {
      const attempt = (run: () => unknown) =>
        Promise.resolve()
          .then(run)
          .then(
            () => "allowed",
            () => "refused",
          );
      const script = document.createElement("script");
      script.textContent = "globalThis.injected = true";
      document.body.append(script);
      const load = (tag: "img" | "iframe", url: string) =>
        new Promise<string>((resolve) => {
          const element = document.createElement(tag);
          document.addEventListener("securitypolicyviolation", () => resolve("refused"), { once: true });
          element.addEventListener("load", () => resolve("allowed"));
          element.src = url;
          document.body.append(element);
        });
      return {
        // In a task of its own: what the debugger evaluates directly is exempt from the policy.
        eval: await new Promise((resolve) => {
          setTimeout(() => void attempt(() => new Function("return 1")()).then(resolve));
        }),
        inline: "injected" in globalThis ? "allowed" : "refused",
        fetch: await attempt(() => fetch("http://127.0.0.1:9/")),
        image: await load("img", "http://127.0.0.1:9/x.png"),
        frame: await load("iframe", "data:text/html,x"),
      };
    });
    expect(results).toEqual({
      eval: "refused",
      inline: "refused",
      fetch: "refused",
      image: "refused",
      frame: "refused",
    });
  });

  test("only the page's own files are served", async () => {
    const statuses = await shell.page.evaluate(async () => {
      const status = async (path: string) => (await fetch(path)).status;
      return {
        page: await status("/index.html"),
        none: await status("/none.js"),
        above: await status("/..%2f..%2fpackage.json"),
        encoded: await status("/%2e%2e%2f%2e%2e%2fpackage.json"),
      };
    });
    expect(statuses).toEqual({ page: 200, none: 404, above: 404, encoded: 404 });
  });

  test("navigation and windows are denied; web links go to the system's browser, other schemes nowhere", async () => {
    await shell.app.evaluate(({ shell: system }) => {
      const opened: string[] = [];
      Object.assign(globalThis, { opened });
      system.openExternal = async (url: string) => void opened.push(url);
    });
    const before = shell.page.url();
    await shell.page.evaluate(() => {
      const opened = [
        window.open("https://halogen.test/window"),
        window.open("file:///etc/passwd"),
        window.open("about:blank"),
      ];
      if (opened.some((one) => one !== null)) throw new Error("a window was opened");
      location.href = "https://halogen.test/navigation";
    });
    await shell.page.evaluate(() => {
      const link = document.createElement("a");
      link.href = "https://halogen.test/link";
      link.target = "_blank";
      document.body.append(link);
      link.click();
      location.href = "file:///etc/passwd";
    });
    // One round trip through main after the last attempt: everything before it has been decided.
    await shell.page.evaluate(() => window.halogen?.call("app.info", {}));
    const opened = await shell.app.evaluate(() => (globalThis as unknown as { opened: string[] }).opened);
    expect([...opened].sort()).toEqual([
      "https://halogen.test/link",
      "https://halogen.test/navigation",
      "https://halogen.test/window",
    ]);
    expect(shell.page.url()).toBe(before);
    expect(await shell.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length)).toBe(1);
  });

  test("permissions are denied, except for copying", async () => {
    const states = await shell.page.evaluate(async () => {
      const names = ["geolocation", "notifications", "camera", "microphone"] as PermissionName[];
      const found: Record<string, string> = {};
      for (const name of names) found[name] = (await navigator.permissions.query({ name })).state;
      return { ...found, request: await Notification.requestPermission() };
    });
    expect(Object.values(states)).toEqual(Object.values(states).map(() => "denied"));
  });

  test("a reload keeps the page connected", async () => {
    await shell.page.reload();
    await shell.page.getByRole("textbox", { name: /message|ask/i }).waitFor();
    const info = await shell.page.evaluate(() => window.halogen?.call("app.info", {}));
    expect(info).toMatchObject({ ok: true });
  });
});
