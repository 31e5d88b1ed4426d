// Takes the screenshots of docs/screens: the built app, served, with the real engine and the starter model.
//   npm run build && node_modules/.bin/node setup/screens.mjs
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { chromium as findChromium } from "./machine.mjs";
import { cache, root } from "./place.mjs";

const folder = join(root, "docs", "screens");
const sizes = [
  { suffix: "", width: 1280, height: 800 },
  { suffix: "-1920", width: 1920, height: 1080 },
];
const prompts = [
  "List three fruits.",
  "Write a Python function that reverses a string.",
  "Explain in two sentences why there are rainbows.",
];
const longest = 30_000;

function serve(data, models) {
  const child = spawn(process.execPath, [join(root, "dist", "main", "cli.cjs"), "serve", "--port", "0"], {
    env: { ...process.env, HALOGEN_DATA: data, HALOGEN_MODELS: models },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk.toString("utf8");
      const address = /Halogen is at (\S+)/.exec(text)?.[1];
      if (address !== undefined) resolve({ address, end: () => child.kill("SIGINT") });
    });
    child.once("exit", (code) => reject(new Error(`halogen serve ended with code ${code}`)));
  });
}

/** A conversation as a user would have it, with a second answer to the last question. */
async function converse(page) {
  for (const prompt of prompts.slice(0, 2)) {
    await page.getByRole("button", { name: "New chat" }).click();
    await ask(page, prompt);
  }
  await ask(page, prompts[2]);
  const reply = page.locator('article[data-role="assistant"]').last();
  await reply.hover();
  await reply.getByRole("button", { name: "Regenerate", exact: true }).click();
  await finished(page);
}

async function ask(page, text) {
  await page.getByRole("textbox", { name: "Message", exact: true }).fill(text);
  await page.getByRole("button", { name: "Send" }).click();
  await finished(page);
}

/** The starter sometimes does not find an end; then it is stopped, as a user would. */
async function finished(page) {
  await page.locator('article[data-role="assistant"][data-status="streaming"]').waitFor();
  const stop = page.getByRole("button", { name: "Stop", exact: true });
  const ended = await stop.waitFor({ state: "detached", timeout: longest }).then(
    () => true,
    () => false,
  );
  if (!ended) await stop.click();
  await stop.waitFor({ state: "detached" });
}

/** The sampling of a new chat, with something set in each of the parts that are folded away. */
async function sample(page) {
  await page.getByRole("button", { name: "New chat" }).click();
  await page.getByRole("button", { name: /^Sampling/ }).click();
  const field = (name) => page.getByRole("textbox", { name, exact: true });
  await page.locator("summary", { hasText: "Single tokens" }).click();
  for (const [text, bias] of [
    [" banana", "3"],
    [" unfortunately", "-5"],
  ]) {
    await field("Bias: text").fill(text);
    await field("Bias: bias").fill(bias);
    await page.locator(".token-reading .token-chip").first().waitFor();
    await field("Bias: bias").press("Enter");
    await page.getByRole("button", { name: `Remove “${text.replace(" ", "␣")}”` }).waitFor();
  }
  await field("Never: text").fill("As an AI");
  await page.locator(".token-reading .token-chip").first().waitFor();
  await page.locator("summary", { hasText: "Order" }).click();
  await page.getByRole("button", { name: "Move Top K up" }).click();
  await page.locator(".sampling-fields").evaluate((fields) => {
    const top = fields.querySelector('[aria-labelledby="sampling-logitBias"]')?.getBoundingClientRect().top ?? 0;
    fields.scrollTo(0, fields.scrollTop + top - fields.getBoundingClientRect().top - 44);
  });
}

async function shoot(browser, app, name, prepare, shapes = sizes) {
  for (const colorScheme of ["dark", "light"]) {
    for (const { suffix, width, height } of shapes) {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" });
      const page = await context.newPage();
      await page.goto(app.address);
      await page.getByRole("button", { name: "New chat" }).waitFor();
      await prepare(page);
      await page.mouse.move(width / 2, height - 2);
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}${suffix}.png`) });
      await context.close();
    }
  }
}

const executablePath = findChromium();
if (executablePath === null) throw new Error("Chromium is needed; HALOGEN_CHROMIUM may name it");
mkdirSync(folder, { recursive: true });
const data = mkdtempSync(join(tmpdir(), "halogen-screens-"));
const empty = mkdtempSync(join(tmpdir(), "halogen-screens-empty-"));
const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
const ends = [];
try {
  const app = await serve(data, join(cache, "model"));
  ends.push(app.end);
  const first = await browser.newPage();
  await first.goto(app.address);
  await converse(first);
  await shoot(browser, app, "chat", async (page) => {
    await page
      .getByRole("navigation", { name: "Chats" })
      .getByRole("button", { name: /reverses/ })
      .first()
      .click();
    await page.locator("article").last().waitFor();
    // Colours come a moment after the text; an answer without code has none to wait for.
    if ((await page.locator("figure.code").count()) > 0)
      await page.locator("pre [class^=code-]:not(.code-slice):not(.code-rest)").first().waitFor();
  });
  await shoot(browser, app, "sampling", sample, [sizes[0]]);
  const bare = await serve(empty, join(empty, "models"));
  ends.push(bare.end);
  await shoot(browser, bare, "first-run", (page) => page.getByText("Halogen needs a model").waitFor(), [sizes[0]]);
} finally {
  for (const end of ends) end();
  await browser.close();
  for (const path of [data, empty]) rmSync(path, { recursive: true, force: true });
}
