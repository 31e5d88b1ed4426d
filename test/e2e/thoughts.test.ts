/**
 * A model whose template may keep past thoughts: found out by the app itself, offered on the page, kept with the chat, and seen in the length of the
 * prompt that the real engine is given. The model is the starter with another template in its file.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserForAll, openPage } from "../fixtures/browser.ts";
import { copyWithTemplate } from "../fixtures/patched-template.ts";
import { button, replies, send, status } from "../fixtures/real-page.ts";
import { makeAppFolder, removeAppFolder, serveApp } from "../fixtures/served-app.ts";
import { starterModel } from "../fixtures/starter-model.ts";
import { connectClient } from "../unit/contract/transport.ts";

const template =
  "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}{% if m.reasoning_content and preserve_thinking %}{{ '<think>' + m.reasoning_content + '</think>' }}{% endif %}{{ m.content + '<|im_end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% if enable_thinking %}{{ '<think>\n' }}{% endif %}{% endif %}";
const thought = "one two three four five six seven";
const sampling = { temperature: 0, maxTokens: 4 };

const browser = browserForAll();
let folder: string;
beforeAll(() => {
  folder = makeAppFolder();
  const model = join(folder, "models", "SmolLM2-135M-Instruct.Q4_1.gguf");
  // The file there may be a link to the one that all tests share.
  rmSync(model);
  copyWithTemplate(starterModel(), model, template);
});
afterAll(() => removeAppFolder(folder));

/** Runs `work` with the app served, and ends it. */
async function serving<T>(work: (app: Awaited<ReturnType<typeof serveApp>>) => Promise<T>): Promise<T> {
  const app = await serveApp(folder);
  try {
    return await work(app);
  } finally {
    expect(await app.close()).toBe(0);
  }
}

test("what the model thought stays in its prompt while the user wants it", async () => {
  const sessionId = await serving(async (app) => {
    const { client } = await connectClient(app);
    const { id } = await client.call("session.create", {});
    await client.call("session.update", { sessionId: id, title: "Sums", sampling });
    const ended = new Promise((resolve, reject) => {
      client.on("message.changed", ({ role, status: now, error }) => {
        if (role === "assistant" && now === "complete") resolve(null);
        else if (role === "assistant" && now !== "streaming") reject(new Error(`${now}: ${error?.message ?? ""}`));
      });
    });
    await client.call("session.update", { sessionId: id, sampling: { maxTokens: null } });
    // The starter does not think by itself: the format makes it, which holds from the first token while thinking is off.
    const source = `<think>${thought}</think>ok`;
    await client.call("chat.send", {
      sessionId: id,
      parentId: null,
      text: "x",
      responseFormat: { kind: "regex", source },
    });
    await ended;
    await client.call("session.update", { sessionId: id, sampling });
    client.close();
    return id;
  });

  await serving(async (app) => {
    const { page, complaints } = await openPage(browser(), app.address);
    await page.getByRole("navigation", { name: "Chats" }).getByRole("button", { name: /Sums/ }).first().click();
    await page.getByText("ok", { exact: true }).waitFor();
    const keep = () => button(page, "Keep thoughts");
    await keep().waitFor();
    expect(await keep().getAttribute("aria-pressed")).toBe("false");
    await send(page, "y");
    await status(replies(page).last(), /^(length|complete)$/);
    await keep().click();
    await expect.poll(() => keep().getAttribute("aria-pressed")).toBe("true");
    await replies(page).last().hover();
    await replies(page).last().getByRole("button", { name: "Regenerate", exact: true }).click();
    await replies(page).last().getByText("2 / 2").waitFor();
    await status(replies(page).last(), /^(length|complete)$/);
    await page.reload();
    await expect.poll(() => keep().getAttribute("aria-pressed")).toBe("true");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  await serving(async (app) => {
    const { client } = await connectClient(app);
    const { session, messages } = await client.call("session.open", { sessionId });
    expect(session.sampling.keepThoughts).toBe(true);
    const [first, second, third] = messages.filter(({ role }) => role === "assistant");
    expect(first?.blocks).toMatchObject([
      { type: "reasoning", text: thought },
      { type: "text", text: "ok" },
    ]);
    const modelId = first?.modelId ?? "";
    const parts = await client.call("model.tokens", { modelId, choices: ["<think>", thought, "</think>"] });
    const tokens = parts.choices.reduce((sum, { length }) => sum + length, 0);
    expect(tokens).toBeGreaterThan(7);
    expect((third?.stats?.promptTokens ?? 0) - (second?.stats?.promptTokens ?? 0)).toBe(tokens);
    client.close();
  });
});
