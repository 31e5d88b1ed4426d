/** The sampling popover: single tokens, the order of the samplers, texts; by keyboard and by name. */
import { AxeBuilder } from "@axe-core/playwright";
import { beforeEach, describe, expect, test } from "vitest";
import { samplerNames } from "../../app/engine.ts";
import { eventually, pageForEach } from "../fixtures/page/browser.ts";

const open = pageForEach();
beforeEach(async () => {
  await open.show("chat");
  await open.page.getByRole("button", { name: "Sampling", exact: true }).click();
});

const group = (name: string) => open.page.getByRole("group", { name, exact: true });
const box = (name: string) => open.page.getByRole("textbox", { name, exact: true });
const unfold = (name: string) => open.page.locator("summary", { hasText: name }).click();
const updates = async () => (await open.requests("session.update")).map((one) => one.sampling);
const violations = async () => (await new AxeBuilder({ page: open.page }).analyze()).violations;

describe("single tokens", () => {
  beforeEach(() => unfold("Single tokens"));

  test("a bias on a text shows the tokens that it becomes, is changed, and is taken back", async () => {
    const bias = group("Bias");
    await box("Bias: text").fill(" internationally");
    await bias.getByText("2 tokens, each of them:").waitFor();
    expect(await bias.locator(".token-reading .token-chip span").allInnerTexts()).toEqual(["␣internat", "ionally"]);
    expect(await bias.getByRole("button", { name: "Add" }).isDisabled()).toBe(true);
    await box("Bias: bias").fill("1001");
    await bias.getByText("The bias is from −1,000 to 1,000.").waitFor();
    await box("Bias: bias").fill("-5");
    await box("Bias: bias").press("Enter");
    const row = bias.getByRole("listitem");
    await row.waitFor();
    // The field is empty again and has the focus: the next one can be typed.
    await expect.poll(() => box("Bias: text").evaluate((node) => node === document.activeElement)).toBe(true);
    expect(await box("Bias: text").inputValue()).toBe("");
    expect(await row.locator(".token-chip span").allInnerTexts()).toEqual(["␣internat", "ionally"]);
    const own = row.getByRole("textbox", { name: "Bias of “␣internationally”" });
    await own.fill("many");
    expect(await own.getAttribute("aria-invalid")).toBe("true");
    await own.fill("2,5");
    await own.press("Enter");
    await eventually(() => own.inputValue()).toBe("2.5");
    expect(await violations()).toEqual([]);
    await row.getByRole("button", { name: "Remove “␣internationally”" }).click();
    await row.waitFor({ state: "detached" });
    const token = " internationally";
    expect(await updates()).toEqual([
      { logitBias: [{ token, bias: -5 }] },
      { logitBias: [{ token, bias: 2.5 }] },
      { logitBias: null },
    ]);
  });

  test("tokens that never come are named by number too; one that the model has not is refused, or said to count for nothing", async () => {
    const never = group("Never");
    await open.page.getByRole("combobox", { name: "Never: named by" }).selectOption("number");
    const number = box("Never: number of a token");
    await number.fill("123");
    await never.getByText("One token:").waitFor();
    await number.press("Enter");
    await never.getByRole("listitem").waitFor();
    await number.fill("60000");
    await never.getByText("This model's tokens are from 0 to 49,151.").waitFor();
    expect(await number.getAttribute("aria-invalid")).toBe("true");
    await number.press("Enter");
    expect(await never.getByRole("listitem").count()).toBe(1);
    await open.script(() => {
      const session = [...scripted.sessions.values()].find((one) => location.hash.endsWith(one.id));
      if (!session) throw new Error("no session is shown");
      const sampling = { ...session.sampling, suppress: [123, 60_000] };
      scripted.emit("session.changed", { ...session, sampling });
    });
    await never.getByText("not in this model, counts for nothing").waitFor();
    expect(await violations()).toEqual([]);
    await never.getByRole("button", { name: "Reset never" }).click();
    await eventually(() => never.getByRole("listitem").count()).toBe(0);
    expect(await updates()).toEqual([{ suppress: [123] }, { suppress: null }]);
  });

  test("that cannot be read are said to be so", async () => {
    await open.script(() =>
      scripted.override("model.tokens", () => {
        throw new Error("The vocabulary is broken.");
      }),
    );
    await box("Never: text").fill("x");
    await group("Never").getByText("The vocabulary is broken.").waitFor();
  });
});

describe("the order of the samplers", () => {
  const order = () => group("Order of the samplers");
  const shown = async () => {
    const ticks = await order().getByRole("checkbox").all();
    const rows = await Promise.all(
      ticks.map(async (tick) => [await tick.getAttribute("data-control"), await tick.isChecked()]),
    );
    return rows.filter(([, on]) => on).map(([name]) => String(name).replace(" in", ""));
  };
  const focused = () => open.page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset.control);

  beforeEach(() => unfold("Order"));

  test("is moved and cut by keyboard, keeps the focus, is spoken, and is reset", async () => {
    expect(await shown()).toEqual([...samplerNames]);
    await order().getByRole("button", { name: "Move Top K up" }).focus();
    await open.page.keyboard.press("Enter");
    await eventually(shown).toEqual(["penalties", "dry", "top_k", "top_n_sigma", ...samplerNames.slice(4)]);
    expect(await focused()).toBe("top_k up");
    await open.page.getByRole("status").getByText("Top K is now number 3 of 9.").waitFor({ state: "attached" });
    await open.page.keyboard.press("Alt+ArrowUp");
    await eventually(shown).toEqual(["penalties", "top_k", "dry", "top_n_sigma", ...samplerNames.slice(4)]);
    await order().getByRole("checkbox", { name: "XTC" }).focus();
    await open.page.keyboard.press("Space");
    await order().getByText("left out").waitFor();
    await eventually(focused).toBe("xtc in");
    expect(await violations()).toEqual([]);
    await order().getByRole("button", { name: "Reset order of the samplers" }).click();
    await eventually(shown).toEqual([...samplerNames]);
    expect((await updates()).at(-1)).toEqual({ order: null });
  });

  test("says of a value that is set that it is lost", async () => {
    await order().getByRole("checkbox", { name: "Temperature" }).click();
    const temperature = box("Temperature");
    await temperature.fill("0.3");
    await temperature.press("Enter");
    await order().getByText("has a value, but is left out").waitFor();
    await open.page.getByRole("button", { name: "Reset all" }).click();
    await eventually(shown).toEqual([...samplerNames]);
  });
});

test("texts show what holds without them, refuse what is too long, and are reset", async () => {
  await unfold("Repetition");
  const breakers = box("DRY breakers");
  expect(await breakers.getAttribute("placeholder")).toBe('\\n\n:\n"\n*');
  await breakers.fill(`a\n${"x".repeat(101)}`);
  await breakers.blur();
  await open.page.getByText("At most 100 characters a line; text 2 has 101.").waitFor();
  expect(await breakers.getAttribute("aria-invalid")).toBe("true");
  expect(await updates()).toEqual([]);
  await breakers.fill("a\n\\n");
  await breakers.blur();
  await open.page.getByRole("button", { name: "Reset dry breakers" }).click();
  await eventually(() => breakers.inputValue()).toBe("");
  expect(await updates()).toEqual([{ dryBreakers: ["a", "\n"] }, { dryBreakers: null }]);
});
