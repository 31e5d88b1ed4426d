/** Models on the page: choosing, what was fitted and why, the first one. */
import { AxeBuilder } from "@axe-core/playwright";
import { describe, expect, test } from "vitest";
import { eventually, pageForEach, say } from "../fixtures/page/browser.ts";

const open = pageForEach();

const button = (name: string) => open.page.getByRole("button", { name, exact: true });

describe("models", () => {
  test("the picker tells state, format and size, and of broken ones the reason", async () => {
    await open.show("chat");
    await open.page.getByRole("button", { name: /^Model:/ }).click();
    const models = open.page.getByRole("dialog", { name: "Models" });
    await models.getByText("4.0B · Q8_0 · 4.0 GiB · context 262,144").waitFor();
    await models.getByText(/This file ends too early: it has 2.1 GB/).waitFor();
    expect(await models.getByRole("button", { name: /mistral-7b/ }).isDisabled()).toBe(true);
    await models.getByRole("button", { name: /Qwen3 4B/ }).click();
    await eventually(() => open.requests("model.load")).toEqual([{ modelId: "qwen3" }]);
    await open.page.getByRole("button", { name: "Model: Qwen3 4B Instruct 2507" }).getByText("40%").waitFor();
  });

  test("the picker opens at the chosen model, however many stand before it", async () => {
    await open.show("chat");
    await open.script(() => {
      for (let count = 10; count < 50; count += 1) {
        const model = {
          ...scripted.sampleModel,
          id: `a${count}`,
          name: `A model ${count}`,
          state: "available" as const,
        };
        scripted.emit("model.changed", model);
      }
    });
    await open.page.getByRole("button", { name: /^Model:/ }).focus();
    await open.page.keyboard.press("Enter");
    const models = open.page.getByRole("dialog", { name: "Models" });
    const chosen = models.getByRole("button", { name: /SmolLM2 135M/, pressed: true });
    await expect.poll(() => chosen.evaluate((node) => node === document.activeElement)).toBe(true);
    const [list, row] = [await models.getByRole("list").boundingBox(), await chosen.boundingBox()];
    expect(row?.y).toBeGreaterThanOrEqual(list?.y ?? Number.NaN);
    expect((row?.y ?? 0) + (row?.height ?? 0)).toBeLessThanOrEqual((list?.y ?? 0) + (list?.height ?? 0));
  });

  test("one that could not be loaded says why in the picker, and can be chosen again", async () => {
    await open.show("chat");
    await open.script(() => {
      const error = {
        code: "model.too_large" as const,
        message: "It needs 193 GiB.",
        hint: "Less context.",
        detail: {},
      };
      scripted.emit("model.changed", { ...scripted.sampleModel, state: "available", error });
    });
    await open.page.getByRole("button", { name: /^Model:/ }).click();
    const row = open.page.getByRole("dialog", { name: "Models" }).getByRole("listitem").filter({ hasText: "193 GiB" });
    await row.getByText("It needs 193 GiB. Less context.").waitFor();
    await row.getByRole("button").click();
    await eventually(() => open.requests("model.load")).toEqual([{ modelId: "smollm2" }]);
  });

  test("how a model was fitted is said in the picker, in the status bar and where it is set", async () => {
    await open.show("fitted");
    const reasons = [
      /largest that fits beside the weights: 41,216/,
      /because F16 would hold only/,
      /long rope factors/,
    ];
    await open.page.getByRole("button", { name: /^Model:/ }).click();
    const models = open.page.getByRole("dialog", { name: "Models" });
    for (const reason of reasons) await models.getByText(reason).waitFor();
    await open.page.keyboard.press("Escape");
    await open.page.getByText("context 6%").focus();
    const tooltip = open.page.getByRole("tooltip");
    for (const reason of [...reasons, "11.1 GiB"]) await tooltip.getByText(reason).waitFor({ state: "attached" });
    await open.page.keyboard.press("Control+,");
    const settings = open.page.getByRole("dialog", { name: "Settings" });
    for (const reason of reasons) await settings.getByText(reason).waitFor();
    expect((await new AxeBuilder({ page: open.page }).analyze()).violations).toEqual([]);
  });

  test("a template without a place for system text is said where it is written", async () => {
    await open.show("fitted");
    await button("System prompt").click();
    await open.page.getByText("it goes in front of the first question").waitFor();
  });

  test("first run: download, its failure with each source, and then a chat", async () => {
    await open.show("first-run");
    await button("Download").click();
    const card = open.page.getByRole("region", { name: "SmolLM2 135M Instruct" });
    await card.getByText("Reaching the model hub").waitFor();
    await open.script(() => {
      const [download] = scripted.downloads.values();
      if (!download) throw new Error("nothing was started");
      const moving = { ...download, state: "downloading" as const, received: 49_000_000, bytesPerSecond: 4_900_000 };
      scripted.emit("download.changed", moving);
    });
    await card.getByText("4.7 MiB/s · 10 s left").waitFor();
    expect(await card.getByRole("progressbar").getAttribute("value")).toBe("49000000");
    await open.script(() => {
      const [download] = scripted.downloads.values();
      if (!download) throw new Error("nothing was started");
      const detail = { "model hub": "no answer within 15 s", "Python package index": "pip is not installed" };
      const error = { code: "download.no_source" as const, message: "No source gave the model.", hint: "", detail };
      scripted.emit("download.changed", { ...download, state: "failed", error });
    });
    await card.getByText("no answer within 15 s").waitFor();
    await card.getByText("pip is not installed").waitFor();
    await open.page.getByText("/home/ada/.local/share/halogen/models").waitFor();
    await open.script(() => {
      const model = { ...scripted.sampleModel, state: "available" as const };
      scripted.models.set(model.id, model);
    });
    await button("Look again").click();
    await say(open, "Hello");
  });
});
