/** The whole product in a real Electron window: the native engine in a utility process, the starter model, a streamed answer. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { starterModel } from "../fixtures/starter-model.ts";
import { closeDisplay, makeDataFolder, obstacle, root, type Shell, startShell, useRealModel } from "./shell.ts";

const reason = obstacle();

describe.skipIf(reason !== null)(`Electron: conversation${reason === null ? "" : ` (skipped: ${reason})`}`, () => {
  const data = makeDataFolder("halogen 模型　é😀 ");
  let shell: Shell;

  beforeAll(async () => {
    useRealModel(data, starterModel());
    shell = await startShell({ data, engine: "native" });
  });
  afterAll(async () => {
    await shell?.app.close();
    await closeDisplay();
    rmSync(data, { recursive: true, force: true });
  });

  test("a question is answered by the real engine, and the answer grows while it is watched", async () => {
    const { page } = shell;
    // A chat whose next token is always the likeliest, so that the answer is known.
    await page.evaluate(async () => {
      const created = await window.halogen?.call("session.create", {});
      const sessionId = (created as { reply: { id: string } }).reply.id;
      await window.halogen?.call("session.update", { sessionId, title: "Greedy", sampling: { temperature: 0 } });
    });
    await page.getByRole("button", { name: /^Greedy/ }).click();
    await page.getByRole("textbox", { name: /message|ask|reply/i }).fill("List three fruits.");
    // Everything the reply's element ever held, read as it changes: a reply that came in one piece would have one length.
    await page.evaluate(() => {
      const seen = new Set<number>();
      Object.assign(window, { seen });
      new MutationObserver(() => {
        const last = [...document.querySelectorAll("article")].at(-1);
        if (last !== undefined && /Here are/.test(last.textContent ?? "")) seen.add(last.textContent?.length ?? 0);
      }).observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("button", { name: /regenerate/i }).waitFor();
    const answer = (await page.locator("article").last().textContent()) ?? "";
    expect(answer).toMatch(/^Here are three fruits that are perfect for a healthy and balanced diet/);
    expect(answer).toMatch(/tok\/s/);
    expect(await page.evaluate(() => (window as unknown as { seen: Set<number> }).seen.size)).toBeGreaterThan(5);
    expect(shell.faults).toEqual([]);

    if (process.env.HALOGEN_SCREENSHOTS === "1")
      await page.screenshot({ path: join(root, "docs/screens/electron.png") });
  });

  test("a reply is held to an expression: masks are made in a thread of the engine's process", async () => {
    const { page } = shell;
    const sessionId = await page.evaluate(async () => {
      const created = await window.halogen?.call("session.create", {});
      const { id } = (created as { reply: { id: string } }).reply;
      const responseFormat = { kind: "regex", source: "(tea|coffee), (red|blue){3}" };
      await window.halogen?.call("chat.send", {
        sessionId: id,
        parentId: null,
        text: "Tea or coffee?",
        responseFormat,
      });
      return id;
    });
    const read = async (): Promise<{ status: string; text: string }> =>
      page.evaluate(async (id) => {
        const answer = await window.halogen?.call("session.open", { sessionId: id });
        const { messages } = (answer as { reply: { messages: { status: string; blocks: { text: string }[] }[] } })
          .reply;
        const last = messages[messages.length - 1];
        return { status: last?.status ?? "", text: last?.blocks.map((block) => block.text).join("") ?? "" };
      }, sessionId);
    await expect.poll(async () => (await read()).status, { timeout: 60_000 }).toBe("complete");
    expect((await read()).text).toMatch(/^(tea|coffee), (red|blue){3}$/);
    expect(shell.faults).toEqual([]);
  });

  test("the engine runs in a process of its own, and main ends it", async () => {
    const status = await shell.page.evaluate(() => window.halogen?.call("engine.status", {}));
    expect(status).toMatchObject({ ok: true, reply: { state: "ready", inProcess: false, backend: "cpu" } });
    const services = await shell.app.evaluate(({ app }) =>
      app.getAppMetrics().map((metric) => metric.name ?? metric.type),
    );
    expect(services).toContain("Halogen engine");
  });
});
