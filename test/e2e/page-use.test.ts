/** Using the page: chats, versions, search, composer, faults of the connection, and all of it by keyboard and by name. */
import { AxeBuilder } from "@axe-core/playwright";
import { describe, expect, test } from "vitest";
import { eventually, pageForEach, say } from "../fixtures/page/browser.ts";

const open = pageForEach();

const button = (name: string) => open.page.getByRole("button", { name, exact: true });
const field = () => open.page.getByRole("textbox", { name: "Message", exact: true });
const shown = () => open.page.locator("article").allInnerTexts();

describe("thinking", () => {
  const thinking = () => open.page.getByRole("button", { name: "Thinking", exact: true });
  const effort = () => open.page.getByRole("combobox", { name: "Thinking effort" });
  const updates = async () => (await open.requests("session.update")).map((one) => one.sampling);

  test("is a switch where the template has one, and stays as it was set", async () => {
    await open.show("thinking-switch");
    await expect.poll(() => thinking().getAttribute("aria-pressed")).toBe("true");
    expect(await effort().count()).toBe(0);
    await thinking().click();
    await expect.poll(() => thinking().getAttribute("aria-pressed")).toBe("false");
    expect(await updates()).toEqual([{ thinking: false }]);
    expect((await new AxeBuilder({ page: open.page }).analyze()).violations).toEqual([]);
  });

  test("of earlier replies is kept or not where the template leaves it to the user, as thinking is set", async () => {
    await open.show("thinking-switch");
    const keep = () => open.page.getByRole("button", { name: "Keep thoughts", exact: true });
    await expect.poll(() => keep().getAttribute("aria-pressed")).toBe("false");
    await keep().focus();
    await open.page.getByRole("tooltip").getByText("does not see what it thought").waitFor();
    await open.page.keyboard.press("Enter");
    await expect.poll(() => keep().getAttribute("aria-pressed")).toBe("true");
    expect((await new AxeBuilder({ page: open.page }).analyze()).violations).toEqual([]);
    // Kept with the chat: it is there again after the other state, in which this template leaves no choice.
    await thinking().click();
    await eventually(() => keep().count()).toBe(0);
    await thinking().click();
    await expect.poll(() => keep().getAttribute("aria-pressed")).toBe("true");
    expect(await updates()).toEqual([{ keepThoughts: true }, { thinking: false }, { thinking: true }]);
  });

  test("has levels where the template has them, and no switch where it has none", async () => {
    await open.show("thinking-effort");
    await open.page.getByText("Always thinks").waitFor();
    expect(await thinking().count()).toBe(0);
    expect(await effort().locator("option").allInnerTexts()).toEqual(["Medium effort", "Low effort", "High effort"]);
    await effort().selectOption("high");
    await expect.poll(() => effort().inputValue()).toBe("high");
    await effort().selectOption("");
    await expect.poll(() => effort().inputValue()).toBe("");
    expect(await updates()).toEqual([{ effort: "high" }, { effort: null }]);
    expect((await new AxeBuilder({ page: open.page }).analyze()).violations).toEqual([]);
  });

  test("with all that a template may offer, the composer's row holds it, and each choice keeps its name", async () => {
    await open.show("thinking-all");
    for (const width of [1280, 720]) {
      await open.page.setViewportSize({ width, height: 800 });
      const row = open.page.locator(".composer-row");
      await eventually(() => row.evaluate((node) => node.scrollWidth - node.clientWidth)).toBe(0);
      for (const name of ["Thinking", "Keep thoughts", "System prompt", "Format", "Sampling", "Send"])
        expect(await row.getByRole("button", { name, exact: true }).isVisible(), name).toBe(true);
      expect(await effort().isVisible()).toBe(true);
    }
    expect((await new AxeBuilder({ page: open.page }).analyze()).violations).toEqual([]);
  });

  test("is not there for a model whose template knows none", async () => {
    await open.show("chat");
    await button("Sampling").waitFor();
    expect((await thinking().count()) + (await effort().count())).toBe(0);
    expect(await button("Keep thoughts").count()).toBe(0);
    expect(await open.page.getByText("Always thinks").count()).toBe(0);
  });
});

describe("versions", () => {
  test("fault 70: with three forks, every message is reached by arrows, also after the session is read again", async () => {
    await open.show("new");
    await say(open, "first question");
    const finish = (text: string) =>
      open.script((words: string) => {
        scripted.write(words);
        scripted.finish();
      }, text);
    await finish("answer one");
    await button("Regenerate").click();
    await open.page.locator('article[data-status="streaming"]').waitFor();
    await finish("answer two");
    await say(open, "follow-up");
    await finish("answer three");
    const edit = open.page.locator('article[data-role="user"]').first();
    await edit.hover();
    await edit.getByRole("button", { name: "Edit" }).click();
    await open.page.getByRole("textbox", { name: "Edit message" }).fill("another question");
    await button("Send as new version").click();
    await open.page.locator('article[data-status="streaming"]').waitFor();
    await finish("answer four");
    await eventually(shown).toEqual([
      expect.stringContaining("another question"),
      expect.stringContaining("answer four"),
    ]);

    await open.script(() => {
      scripted.connection("closed");
      scripted.connection("open");
    });
    await eventually(shown).toHaveLength(2);
    const first = open.page.locator("article").first();
    await first.getByRole("button", { name: "Previous version" }).click();
    await eventually(async () => (await shown()).join()).toMatch(
      /first question[\s\S]*answer two[\s\S]*follow-up[\s\S]*answer three/,
    );
    await open.page.locator("article").nth(1).getByRole("button", { name: "Previous version" }).click();
    await eventually(async () => (await shown()).join()).toMatch(/first question[\s\S]*answer one/);
    expect(await shown()).toHaveLength(2);
    await open.page.keyboard.press("Alt+ArrowRight");
    await eventually(async () => (await shown()).join()).toContain("answer three");
  });

  test("fault 72: an edit removes nothing", async () => {
    await open.show("chat");
    const before = await open.script(() => scripted.messages.size);
    await open.page.keyboard.press("Control+Shift+E");
    await open.page.getByRole("textbox", { name: "Edit message" }).fill("Other words");
    await open.page.keyboard.press("Control+Enter");
    await eventually(shown).toEqual([expect.stringContaining("Other words"), expect.anything()]);
    expect(await open.script(() => scripted.messages.size)).toBe(before + 2);
    await open.page.locator("article").first().getByText("3 / 3").waitFor();
  });
});

describe("chats", () => {
  test("are grouped, renamed, pinned, deleted and brought back", async () => {
    await open.show("chat");
    expect(await open.page.getByRole("heading", { level: 2 }).allInnerTexts()).toEqual([
      "Pinned",
      "Today",
      "Yesterday",
      "This week",
      "Older",
    ]);
    const options = async (title: string, item: string) => {
      await button(`Options of ${title}`).focus();
      await open.page.keyboard.press("Enter");
      await open.page.getByRole("menuitem", { name: item }).click();
    };
    await options("Letter to the landlord", "Rename");
    const name = open.page.getByRole("textbox", { name: "Chat title" });
    await name.fill("Letter about the heating");
    await name.press("Enter");
    await button("Letter about the heating").waitFor();
    await options("Letter about the heating", "Pin");
    await eventually(() => open.requests("session.update")).toMatchObject([
      { title: "Letter about the heating" },
      { pinned: true },
    ]);
    await options("Letter about the heating", "Delete");
    await eventually(() => button("Letter about the heating").count()).toBe(0);
    await button("Undo").click();
    await button("Letter about the heating").waitFor();
  });

  test("a new chat is stored with its first message, with the system prompt and sampling it was given", async () => {
    await open.show("new");
    const before = await open.script(() => scripted.sessions.size);
    await button("System prompt").click();
    await open.page.getByRole("textbox", { name: "System prompt" }).fill("Be brief.");
    await button("Done").click();
    await open.page.getByRole("button", { name: /^Sampling/ }).click();
    const temperature = open.page.getByRole("textbox", { name: "Temperature" });
    expect(await temperature.getAttribute("placeholder")).toBe("0.8");
    await temperature.fill("9");
    expect(await temperature.getAttribute("aria-invalid")).toBe("true");
    await temperature.fill("0.2");
    await temperature.press("Enter");
    await open.page.keyboard.press("Escape");
    expect(await open.script(() => scripted.sessions.size)).toBe(before);
    await say(open, "Hello");
    expect(await open.requests("session.create")).toMatchObject([{ system: "Be brief.", modelId: "smollm2" }]);
    expect(await open.requests("session.update")).toMatchObject([{ sampling: { temperature: 0.2, topK: null } }]);
    expect(open.page.url()).toMatch(/#\/chat\/session-/);
  });

  test("what was written is not lost when sending fails", async () => {
    await open.show("new");
    await open.script(() => {
      scripted.override("chat.send", () => {
        throw Object.assign(new Error("The disk is full."), { code: "store.disk_full" });
      });
    });
    await field().fill("A long and careful question");
    await button("Send").click();
    await open.page.getByRole("alert").getByText("The disk is full.").waitFor();
    expect(await field().inputValue()).toBe("A long and careful question");
  });
});

describe("search", () => {
  test("shows where, and opens the branch that holds it", async () => {
    await open.show("chat");
    await open.page.keyboard.press("Control+K");
    await open.page.keyboard.type("forgot the weeks");
    const result = open.page.locator(".result");
    await eventually(() => result.locator("mark").allInnerTexts()).toEqual(["forgot the weeks"]);
    await open.page.keyboard.press("Enter");
    await open.page.locator("article", { hasText: "A first try, which forgot the weeks." }).waitFor();
    await open.page.locator("article").last().getByText("1 / 2").waitFor();
    await open.page.getByRole("searchbox", { name: "Search everything" }).focus();
    await open.page.keyboard.press("Escape");
    await button("Letter to the landlord").waitFor();
  });

  test("says when there is nothing, and markup in a snippet is text", async () => {
    await open.show("rich");
    const search = open.page.getByRole("searchbox", { name: "Search everything" });
    await search.fill("no such words");
    await open.page.getByText("Nothing found").waitFor();
    await search.fill("onerror");
    await open.page.locator(".result mark").waitFor();
    expect(await open.page.locator(".result img, .result select").count()).toBe(0);
  });
});

describe("the composer", () => {
  test("Enter sends, Shift Enter does not, and neither does an Enter of an input method", async () => {
    await open.show("new");
    await field().click();
    await open.page.keyboard.type("one");
    await open.page.keyboard.press("Shift+Enter");
    await open.page.keyboard.type("two");
    await field().evaluate((element) => {
      element.dispatchEvent(
        new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true }),
      );
    });
    expect(await field().inputValue()).toBe("one\ntwo");
    expect(await open.requests("chat.send")).toEqual([]);
    await open.page.keyboard.press("Enter");
    await eventually(() => open.requests("chat.send")).toMatchObject([{ text: "one\ntwo" }]);
    expect(await field().inputValue()).toBe("");
  });

  test("fault 13: a paste of 5 MB is an attachment, the field stays light, and all of it is sent", async () => {
    await open.show("new");
    const size = 5_000_000;
    await field().evaluate((element, characters) => {
      const data = new DataTransfer();
      data.setData(
        "text/plain",
        "x"
          .repeat(249)
          .concat("\n")
          .repeat(characters / 250),
      );
      element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }, size);
    await open.page.getByText("20,001 lines · 5,000,000 characters").waitFor();
    await field().fill("What is this?");
    expect((await field().inputValue()).length).toBe(13);
    await button("Send").click();
    await eventually(() =>
      open.script(() => (scripted.requests.at(-1)?.request as { text?: string } | undefined)?.text?.length),
    ).toBe(13 + 2 + size);
    const bubble = open.page.locator('article[data-role="user"] .bubble');
    await bubble.getByRole("button", { name: /^Show all/ }).waitFor();
    expect((await bubble.innerText()).length).toBeLessThan(6000);
  });

  test("refuses more than main takes, with the numbers, and keeps it", async () => {
    await open.show("new");
    await field().evaluate((element) => {
      const data = new DataTransfer();
      data.setData("text/plain", "x".repeat(8_000_001));
      element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await button("Send").click();
    await open.page.getByRole("alert").getByText("This message has 8,000,001 characters.").waitFor();
    await open.page.getByText("1 line · 8,000,001 characters").waitFor();
    expect(await open.requests("chat.send")).toEqual([]);
  });

  test("keeps a draft for each chat", async () => {
    await open.show("chat");
    await field().fill("half a thought");
    await button("Boat electrics").click();
    expect(await field().inputValue()).toBe("");
    await open.page
      .getByRole("button", { name: /^Parse ISO durations/ })
      .first()
      .click();
    expect(await field().inputValue()).toBe("half a thought");
  });
});

describe("faults", () => {
  test("a lost connection is said, nothing can be sent into it, and all is read anew after", async () => {
    await open.show("chat");
    await open.script(() => scripted.connection("closed"));
    await open.page.getByText("The connection to Halogen is lost.").waitFor();
    await field().fill("Hello?");
    expect(await button("Send").isDisabled()).toBe(true);
    await open.script(() => {
      const [session] = scripted.sessions.values();
      if (session) scripted.sessions.set(session.id, { ...session, title: "Renamed meanwhile" });
      scripted.connection("open");
    });
    await button("Renamed meanwhile").waitFor();
    await eventually(() => open.page.getByText("The connection to Halogen is lost.").count()).toBe(0);
    expect(await button("Send").isEnabled()).toBe(true);
  });

  test("a page that is not let in says what to open", async () => {
    await open.show("chat");
    await open.script(() => scripted.connection("refused"));
    await open.page.getByRole("alert").getByText("open the address that Halogen printed").waitFor();
    expect(await button("Send").isDisabled()).toBe(true);
    await open.script(() => scripted.connection("open"));
    await eventually(() => open.page.getByRole("alert").count()).toBe(0);
  });

  test("a failed reply says code, words, hint and numbers", async () => {
    await open.show("errors");
    const card = open.page.getByRole("region", { name: "Error" }).first();
    await eventually(async () => (await card.innerText()).replace(/\s+/g, " ")).toBe(
      "This conversation has 11,204 tokens, the context holds 8,192. context.exceeded Load the model with a longer context, or begin a new chat with less text. Prompt tokens 11,204 Context length 8,192 Try again",
    );
  });
});

describe("for everyone", () => {
  const states = [
    "chat",
    "streaming",
    "rich",
    "errors",
    "loading",
    "failed",
    "new",
    "empty",
    "first-run",
    "downloading",
    "download-failed",
  ];

  test.each(states)(
    "fault 74: %s: nothing serious for axe in light and dark, and each button has a name",
    async (state) => {
      await open.show(state);
      await open.page.locator(".status").getByText("CPU").or(open.page.getByText("Engine failed")).waitFor();
      for (const colorScheme of ["light", "dark"] as const) {
        await open.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        const { violations } = await new AxeBuilder({ page: open.page as never }).analyze();
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        expect(
          serious.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`),
        ).toEqual([]);
      }
      const unnamed = await open.page.evaluate(() =>
        [...document.querySelectorAll("button")]
          .map((element) => (element.getAttribute("aria-label") ?? element.innerText).trim())
          .filter((name) => name === "" || name.includes("[object")),
      );
      expect(unnamed).toEqual([]);
    },
  );

  test("the whole way by keyboard: new chat, model, send, stop, edit, versions, another chat", async () => {
    await open.show("new");
    await open.page.keyboard.press("Alt+N");
    await eventually(() => field().evaluate((element) => element === document.activeElement)).toBe(true);
    await open.page.keyboard.type("Hello");
    await open.page.keyboard.press("Enter");
    await open.page.locator('article[data-status="streaming"]').waitFor();
    await open.script(() => scripted.write("Hi"));
    await open.page.keyboard.press("Escape");
    await open.page.locator('article[data-status="stopped"]').waitFor();
    await open.page.keyboard.press("Control+Shift+Enter");
    await open.page.locator('article[data-status="streaming"]').waitFor();
    await open.page.keyboard.press("Escape");
    // Versions are stepped through when nothing streams.
    await open.page.locator('article[data-status="streaming"]').waitFor({ state: "detached" });
    await open.page.getByText("2 / 2").waitFor();
    await open.page.keyboard.press("Alt+ArrowLeft");
    await open.page.getByText("1 / 2").waitFor();
    await open.page.keyboard.press("Control+M");
    await open.page.getByRole("dialog", { name: "Models" }).waitFor();
    await open.page.keyboard.press("Escape");
    await open.page.getByRole("dialog", { name: "Models" }).waitFor({ state: "hidden" });
    await open.page.keyboard.press("Control+K");
    await eventually(() => open.page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe(
      "Search everything",
    );
    await open.page.keyboard.press("ArrowDown");
    await open.page.keyboard.press("ArrowDown");
    const focused = await open.page.evaluate(() => document.activeElement?.getAttribute("title"));
    await open.page.keyboard.press("Enter");
    await eventually(() => open.page.getByRole("heading", { level: 1 }).innerText()).toBe(focused);
  });

  test("the theme follows the system until the setting says otherwise", async () => {
    await open.show("chat", { colorScheme: "dark" });
    const background = () => open.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(await background()).toBe("rgb(22, 21, 19)");
    await open.page.keyboard.press("Control+,");
    await open.page.getByText("Light", { exact: true }).click();
    await eventually(background).toBe("rgb(251, 250, 248)");
    await open.page.emulateMedia({ colorScheme: "light" });
    await open.page.getByText("Dark", { exact: true }).click();
    await eventually(background).toBe("rgb(22, 21, 19)");
  });
});
