/** What replies are held to: chosen, checked while it is written, sent, and kept with the chat. */
import { AxeBuilder } from "@axe-core/playwright";
import { expect, test } from "vitest";
import { eventually, pageForEach, say } from "../fixtures/page/browser.ts";

const open = pageForEach();

const chip = () => open.page.getByRole("button", { name: /^Format/ });
const choose = (name: string) => open.page.getByRole("radio", { name, exact: true }).check({ force: true });
const source = (name: string) => open.page.getByRole("textbox", { name, exact: true });
const sent = async () => (await open.requests("chat.send")).map((one) => one.responseFormat);

test("a schema that is not right is said to be so, and nothing is sent until it is", async () => {
  await open.show("new");
  await chip().click();
  await choose("JSON schema");
  await open.page.getByText("Nothing is written yet.").waitFor();
  await source("JSON schema").fill('{"type":"object","not":{}}');
  await open.page.getByText('A reply cannot be held to "not" (at "/not").').waitFor();
  expect(await source("JSON schema").getAttribute("aria-invalid")).toBe("true");
  expect((await new AxeBuilder({ page: open.page }).analyze()).violations).toEqual([]);
  await open.page.keyboard.press("Escape");
  await chip().getByText("not right yet").waitFor();
  const field = open.page.getByRole("textbox", { name: "Message", exact: true });
  await field.fill("Hello");
  await open.page.getByRole("button", { name: "Send" }).click();
  await open.page
    .getByRole("alert")
    .getByText(/The format of the reply is not right/)
    .waitFor();
  expect(await field.inputValue()).toBe("Hello");
  expect(await sent()).toEqual([]);

  await chip().click();
  await source("JSON schema").fill('{"type":"object"}');
  await open.page.keyboard.press("Escape");
  await say(open, "Hello");
  expect(await sent()).toEqual([{ kind: "json_schema", source: '{"type":"object"}' }]);
});

test("what a reply in a format takes of the model is begun when one is chosen, and again with each load, before anything is sent", async () => {
  await open.show("chat");
  const prepared = () => open.requests("model.prepareFormat");
  const become = (state: "loaded" | "available") =>
    open.script((wanted) => {
      const model = scripted.models.get("smollm2") ?? scripted.sampleModel;
      scripted.models.set(model.id, { ...model, state: wanted });
      scripted.emit("model.changed", { ...model, state: wanted });
    }, state);
  await chip().click();
  expect(await prepared()).toEqual([]);
  await choose("Expression");
  await source("Expression").fill("yes|no");
  await choose("JSON");
  await eventually(prepared).toEqual([{ modelId: "smollm2" }]);
  await become("available");
  await become("loaded");
  await eventually(async () => (await prepared()).length).toBe(2);
  await choose("Free text");
  await become("available");
  await become("loaded");
  await open.page.keyboard.press("Escape");
  await say(open, "Hello");
  expect((await prepared()).length).toBe(2);
});

test("it goes on for the chat, is none of another chat's, and is taken away", async () => {
  await open.show("new");
  await chip().click();
  await choose("Expression");
  await source("Expression").fill("yes|no");
  // Another kind that is only looked at costs nothing.
  await choose("Grammar");
  await choose("Expression");
  expect(await source("Expression").inputValue()).toBe("yes|no");
  await open.page.keyboard.press("Escape");
  await say(open, "first");
  await open.script(() => scripted.finish());
  await chip().getByText("Expression").waitFor();
  await open.page.getByRole("button", { name: "New chat" }).click();
  await eventually(() => chip().innerText()).toBe("Format");
  await open.page.getByRole("navigation", { name: "Chats" }).getByRole("button", { name: /first/ }).first().click();
  await chip().getByText("Expression").waitFor();
  await chip().click();
  await choose("Free text");
  await open.page.keyboard.press("Escape");
  await eventually(() => chip().innerText()).toBe("Format");
  await say(open, "second");
  expect(await sent()).toEqual([{ kind: "regex", source: "yes|no" }, undefined]);
});
