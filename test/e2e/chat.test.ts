/** The whole product in a real browser with the real engine: what a person does with a chat. */
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, test } from "vitest";
import {
  bodyOf,
  button,
  composer,
  grown,
  questions,
  replies,
  sceneForEach,
  send,
  status,
} from "../fixtures/real-page.ts";

/** Longer than the default of a second: the machine may be busy. */
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 15_000 });

const long = "Tell me a very long story about the sea, with many chapters.";

const scene = sceneForEach();
let page: Page;
beforeEach(() => {
  page = scene.page;
});

describe("a conversation", () => {
  test("streams, stops, regenerates, goes through the versions, edits, is found again and outlives a reload", async () => {
    await composer(page).waitFor();
    await send(page, long);
    const reply = replies(page).last();
    await status(reply, "streaming");
    const early = await grown(reply, 20);
    const later = await grown(reply, early.length + 40);
    expect(later.startsWith(early.trimEnd().slice(0, 15))).toBe(true);

    await button(page, "Stop").click();
    await status(reply, "stopped", 5000);
    const first = await bodyOf(reply).innerText();
    expect(await questions(page).count()).toBe(1);

    await reply.hover();
    await reply.getByRole("button", { name: "Regenerate", exact: true }).click();
    await status(replies(page).last(), "streaming");
    await grown(replies(page).last(), 30);
    await button(page, "Stop").click();
    await status(replies(page).last(), "stopped", 5000);
    const second = await bodyOf(replies(page).last()).innerText();

    await replies(page).last().hover();
    await replies(page).last().getByRole("button", { name: "Previous version", exact: true }).click();
    await eventually(() => bodyOf(replies(page).last()).innerText()).toBe(first);
    await replies(page).last().hover();
    await replies(page).last().getByRole("button", { name: "Next version", exact: true }).click();
    await eventually(() => bodyOf(replies(page).last()).innerText()).toBe(second);

    await questions(page).last().hover();
    await questions(page).last().getByRole("button", { name: "Edit", exact: true }).click();
    const field = page.getByRole("textbox", { name: "Edit message" });
    await field.fill("Say the word marzipan.");
    await field.press("Control+Enter");
    await eventually(() => questions(page).last().innerText()).toContain("marzipan");
    await grown(replies(page).last(), 5);
    expect(await questions(page).count()).toBe(1);

    await page.reload();
    await eventually(() => questions(page).last().innerText()).toContain("marzipan");
    await questions(page).last().hover();
    await questions(page).last().getByRole("button", { name: "Previous version", exact: true }).click();
    await eventually(() => questions(page).last().innerText()).toContain("long story");
    expect(await bodyOf(replies(page).last()).innerText()).toBe(second);

    const search = page.getByRole("searchbox", { name: "Search everything" });
    await search.fill("marzipan");
    // The chat's title is found, too; a message's hit shows the words around it.
    const hit = page.locator(".results button", { has: page.locator(".result-snippet") }).last();
    await hit.waitFor();
    expect(await hit.innerText()).toContain("marzipan");
    await hit.click();
    await eventually(() => questions(page).last().innerText()).toContain("marzipan");
  });

  test("a second chat has its own messages", async () => {
    await send(page, "What is the capital of France?");
    await grown(replies(page).last(), 5);
    await button(page, "New chat").click();
    await eventually(() => questions(page).count()).toBe(0);
    await send(page, "Name a colour.");
    await grown(replies(page).last(), 3);
    expect(await questions(page).count()).toBe(1);
    const chats = page.getByRole("navigation", { name: "Chats" });
    await chats
      .getByRole("button", { name: /capital/i })
      .first()
      .click();
    await eventually(() => questions(page).last().innerText()).toContain("capital of France");
  });

  test("a reply goes on streaming through a reload", async () => {
    await send(page, long);
    const before = await grown(replies(page).last(), 40);
    await page.reload();
    await replies(page).last().waitFor();
    const after = await grown(replies(page).last(), before.length + 20);
    expect(after.slice(0, 30)).toBe(before.slice(0, 30));
    await button(page, "Stop").click();
    await status(replies(page).last(), "stopped", 5000);
  });
});

describe("an engine that dies in mid-reply", () => {
  test("is named, the partial reply stays, and the next message works", async () => {
    await send(page, long);
    const reply = replies(page).last();
    const before = await grown(reply, 60);
    const [engine] = scene.app.enginePids();
    if (engine === undefined) throw new Error("there is no engine process");
    process.kill(engine, "SIGKILL");
    await status(reply, "interrupted", 10_000);
    const kept = await bodyOf(reply).innerText();
    expect(kept.startsWith(before.slice(0, 50))).toBe(true);
    expect(await page.locator("main").innerText()).toMatch(/engine/i);
    await reply.getByRole("button", { name: "Continue" }).waitFor();

    await send(page, "Name a colour.");
    await grown(replies(page).last(), 5);
    await eventually(() => questions(page).last().innerText()).toContain("colour");
    expect(scene.app.enginePids()).not.toContain(engine);
    // The reply that was cut is still there, above: messages out of sight are not drawn.
    await page.locator("main").hover();
    await page.mouse.wheel(0, -100_000);
    await eventually(() => bodyOf(replies(page).first()).innerText()).toBe(kept);
  });
});
