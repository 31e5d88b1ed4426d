/** A format that is chosen on the page holds the real engine's reply, also when it is made again and after a reload. */
import { expect, test } from "vitest";
import { bodyOf, replies, sceneForEach, send, status } from "../fixtures/real-page.ts";

const scene = sceneForEach();

const schema = {
  type: "object",
  properties: { fruit: { type: "string", maxLength: 12 }, ripe: { type: "boolean" } },
  required: ["fruit", "ripe"],
  additionalProperties: false,
};

test("a JSON schema", async () => {
  const { page } = scene;
  const chip = page.getByRole("button", { name: /^Format/ });
  const fits = async () => {
    await status(replies(page).last(), "complete");
    const value = JSON.parse(await bodyOf(replies(page).last()).innerText()) as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(["fruit", "ripe"]);
    expect([typeof value.fruit, typeof value.ripe]).toEqual(["string", "boolean"]);
  };
  await chip.click();
  await page.getByRole("radio", { name: "JSON schema", exact: true }).check({ force: true });
  await page.getByRole("textbox", { name: "JSON schema", exact: true }).fill(JSON.stringify(schema));
  await page.keyboard.press("Escape");
  await send(page, "Name a fruit.");
  await fits();
  await page.reload();
  await chip.getByText("JSON schema").waitFor();
  await replies(page).last().hover();
  await replies(page).last().getByRole("button", { name: "Regenerate", exact: true }).click();
  await replies(page).last().getByText("2 / 2").waitFor();
  await fits();
  await send(page, "And another one?");
  await expect.poll(() => replies(page).count()).toBe(2);
  await fits();
});
