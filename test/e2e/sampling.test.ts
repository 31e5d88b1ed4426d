/** What is set in the sampling popover reaches the real engine: its greedy reply changes accordingly. */
import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { bodyOf, button, replies, sceneForEach, send, status } from "../fixtures/real-page.ts";

const scene = sceneForEach();
let page: Page;
beforeEach(() => {
  page = scene.page;
});

const box = (name: string) => page.getByRole("textbox", { name, exact: true });
const group = (name: string) => page.getByRole("group", { name, exact: true });

async function set(name: string, value: string): Promise<void> {
  await box(name).fill(value);
  await box(name).press("Enter");
}

/** The reply of a fresh chat with what is set now. */
async function answer(): Promise<string> {
  await page.keyboard.press("Escape");
  await send(page, "List three fruits.");
  await status(replies(page).last(), "length");
  const text = await bodyOf(replies(page).last()).innerText();
  await button(page, "New chat").click();
  await page.getByRole("button", { name: /^Sampling/ }).click();
  await set("Temperature", "0");
  await set("Longest reply", "6");
  await page.locator("summary", { hasText: "Single tokens" }).click();
  return text;
}

test("a token that never comes, one with a bias, and a sampler that is left out", async () => {
  await page.getByRole("button", { name: /^Sampling/ }).click();
  await set("Temperature", "0");
  await set("Longest reply", "6");
  // The starter's own greedy answer, as in test/fixtures/greedy-smollm2.json.
  expect(await answer()).toBe("Here are three fruits that are");

  await box("Never: text").fill("Here");
  // Read by the model's own tokenizer: one token, with its number.
  await group("Never").getByText("One token:").waitFor();
  const number = Number(await group("Never").locator(".token-reading .token-chip small").innerText());
  await box("Never: text").press("Enter");
  await group("Never").getByRole("listitem").waitFor();
  expect(await answer()).not.toMatch(/^Here/);

  // By its number it is the same token.
  await page.getByRole("combobox", { name: "Bias: named by" }).selectOption("number");
  await box("Bias: number of a token").fill(String(number));
  await box("Bias: bias").fill("1000");
  await group("Bias").getByText("One token:").waitFor();
  await box("Bias: bias").press("Enter");
  await group("Bias").getByRole("listitem").waitFor();
  expect(await answer()).toBe("HereHereHereHereHereHere");

  // Without the temperature step 0 is not looked at, and with one sampler that leaves the best alone the reply is the greedy one still.
  await set("Top K", "1");
  await set("Temperature", "5");
  await page.locator("summary", { hasText: "Order" }).click();
  for (const name of ["Penalties", "DRY", "Top n sigma", "Typical P", "Top P", "Min P", "XTC"]) {
    await group("Order of the samplers").getByRole("checkbox", { name, exact: true }).click();
    await page.locator(".order-item.out", { hasText: name }).waitFor();
  }
  await page.getByRole("button", { name: "Move Temperature up" }).click();
  await page.locator(".order-item", { hasText: "Temperature" }).getByText("1", { exact: true }).waitFor();
  expect(await answer()).toBe("Here are three fruits that are");
});
