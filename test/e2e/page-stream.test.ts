/** Streaming: what moves, what must not move, and what a token costs. */
import { describe, expect, test } from "vitest";
import { eventually, pageForEach, say } from "../fixtures/page/browser.ts";

const open = pageForEach();

const scroller = () => open.page.getByRole("region", { name: "Conversation" });
const top = () => scroller().evaluate((element) => element.scrollTop);
const fromEnd = () => scroller().evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop);
const reply = () => open.page.locator('article[data-role="assistant"]').last();

/** Writes numbered lines, a frame each, so that the page draws between them. */
function lines(from: number, to: number): Promise<void> {
  return open.script(
    async ([first, last]) => {
      for (let line = first; line <= last; line += 1) {
        scripted.write(`Line ${line} of a reply.\n\n`);
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    },
    [from, to] as const,
  );
}

describe("the reader's place", () => {
  test("is the end while they are there", async () => {
    await open.show("new");
    await say(open, "Go");
    await lines(1, 60);
    await eventually(fromEnd).toBeLessThanOrEqual(1);
    await open.script(() => scripted.finish());
    await eventually(() => reply().getAttribute("data-status")).toBe("complete");
    await eventually(fromEnd).toBeLessThanOrEqual(1);
  });

  test("fault 5: is kept once they scrolled, through 200 more lines and the end of the reply", async () => {
    await open.show("new");
    await say(open, "Go");
    await lines(1, 100);
    await scroller().hover();
    await open.page.mouse.wheel(0, -500);
    await eventually(fromEnd).toBeGreaterThan(400);
    const before = await top();
    const line = open.page.getByText("Line 70 of a reply.");
    const seen = await line.boundingBox();
    await lines(101, 300);
    expect(await top()).toBe(before);
    await open.script(() => scripted.finish());
    await eventually(() => reply().getAttribute("data-status")).toBe("complete");
    // Two frames, in which a late jump would happen.
    await open.page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
    expect(await top()).toBe(before);
    expect(await line.boundingBox()).toEqual(seen);
  });

  test("is the end again for who goes back there", async () => {
    await open.show("new");
    await say(open, "Go");
    await lines(1, 60);
    await scroller().hover();
    await open.page.mouse.wheel(0, -900);
    await open.page.getByRole("button", { name: "Go to the end" }).click();
    await eventually(fromEnd).toBeLessThanOrEqual(1);
    await lines(61, 90);
    await eventually(fromEnd).toBeLessThanOrEqual(1);
  });

  test("fault 7: a new prompt is in view when it is sent, from wherever", async () => {
    await open.show("long");
    await eventually(fromEnd).toBeLessThanOrEqual(1);
    await scroller().hover();
    await open.page.mouse.wheel(0, -4000);
    await eventually(fromEnd).toBeGreaterThan(3000);
    await say(open, "Am I in view?");
    const prompt = open.page.locator('article[data-role="user"]', { hasText: "Am I in view?" });
    await eventually(async () => (await prompt.boundingBox())?.y ?? -1).toBeGreaterThan(44);
    await open.script(() => {
      scripted.write("Yes.");
      scripted.finish();
    });
    await eventually(() => reply().innerText()).toContain("Yes.");
    const box = await prompt.boundingBox();
    expect(box?.y).toBeGreaterThan(44);
    expect(box?.y).toBeLessThan(800);
  });

  test("what a click opens stays under the pointer, also at the end", async () => {
    await open.show("chat", { viewport: { width: 1280, height: 640 } });
    await eventually(top).toBeGreaterThan(0);
    await eventually(fromEnd).toBeLessThanOrEqual(1);
    const title = open.page.getByRole("button", { name: /^Thought for/ });
    await title.hover();
    const before = await title.boundingBox();
    expect(await fromEnd()).toBeLessThanOrEqual(1);
    await title.click();
    await open.page.getByText("A single pass will do.").waitFor();
    expect(await title.boundingBox()).toEqual(before);
  });

  test("a long chat opens at its end and draws only what is near", async () => {
    await open.show("long");
    await open.page.getByText("Question 150").waitFor();
    await eventually(fromEnd).toBeLessThanOrEqual(1);
    expect(await open.page.locator("article").count()).toBeLessThan(40);
  });
});

describe("a token", () => {
  test("changes its own block only, however long the reply is", async () => {
    await open.show("new");
    await say(open, "Go");
    const changed = () =>
      open.script(async () => {
        const markdown = document.querySelector(".markdown");
        if (!markdown) throw new Error("nothing streams");
        const touched = new Set<Node>();
        const observer = new MutationObserver((records) => {
          for (const record of records) {
            let node: Node | null = record.target;
            while (node && (node.parentNode as Element | null)?.className !== "blocks") node = node.parentNode;
            touched.add(node ?? record.target);
          }
        });
        observer.observe(markdown, { subtree: true, childList: true, characterData: true });
        scripted.write("word ");
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        observer.disconnect();
        return {
          touched: touched.size,
          isLast: [...touched].every((node) => node === markdown.lastElementChild?.lastElementChild),
        };
      });
    await open.script(() => scripted.write("First "));
    await reply().locator(".markdown").waitFor();
    expect(await changed()).toEqual({ touched: 1, isLast: true });
    await open.script(() => {
      for (let at = 0; at < 2000; at += 1) scripted.write(`\n\nParagraph ${at} with **some** words and \`code\`.`);
      scripted.write("\n\nThe last ");
    });
    await reply().getByText("The last").waitFor();
    expect(await changed()).toEqual({ touched: 1, isLast: true });
  });

  test("that was missed is found: the session is read again", async () => {
    await open.show("new");
    await say(open, "Go");
    await open.script(() => {
      scripted.write("One ");
      scripted.write("two ", "text", true);
      scripted.write("three");
    });
    await eventually(() => reply().locator(".markdown").innerText()).toBe("One two three");
    expect(await open.requests("session.open")).toHaveLength(1);
  });

  test("that streams while another chat is shown is there after", async () => {
    await open.show("chat");
    await say(open, "Go on");
    await open.script(() => scripted.write("Before "));
    await open.page.getByRole("button", { name: "Boat electrics", exact: true }).click();
    await open.script(() => scripted.write("and after"));
    await open.page
      .getByRole("button", { name: /^Parse ISO durations/ })
      .first()
      .click();
    await eventually(() => reply().locator(".markdown").innerText()).toBe("Before and after");
    expect(await open.page.getByRole("button", { name: "Stop" }).count()).toBe(1);
  });
});

describe("a reply's end", () => {
  test("stop, by button and by Escape, and go on in the same message", async () => {
    await open.show("new");
    await say(open, "Go");
    await open.script(() => scripted.write("Half a"));
    await open.page.getByRole("button", { name: "Stop" }).click();
    await eventually(() => reply().getAttribute("data-status")).toBe("stopped");
    await reply().getByRole("button", { name: "Continue" }).click();
    await eventually(() => reply().getAttribute("data-status")).toBe("streaming");
    await open.script(() => scripted.write(" sentence."));
    await eventually(() => reply().locator(".markdown").innerText()).toBe("Half a sentence.");
    await open.page.keyboard.press("Escape");
    await eventually(() => reply().getAttribute("data-status")).toBe("stopped");
    expect(await open.page.locator('article[data-role="assistant"]').count()).toBe(1);
  });

  test("is announced politely", async () => {
    await open.show("new");
    await say(open, "Go");
    await open.script(() => {
      scripted.write("Done.");
      scripted.finish("complete", { generatedTokens: 1234 });
    });
    const region = open.page.locator('[aria-live="polite"].unseen');
    await eventually(() => region.innerText()).toBe("Reply finished, 1,234 tokens.");
  });

  test("fault 75: numbers are those of the message, in each chat", async () => {
    await open.show("new");
    for (const [chat, rate, tokens] of [
      ["A", 11.5, 101],
      ["B", 22.5, 202],
    ] as const) {
      await open.page.getByRole("button", { name: "New chat" }).click();
      await say(open, `Chat ${chat}`);
      await open.script(
        ([tokensPerSecond, generatedTokens]) => {
          scripted.write("Answer");
          scripted.finish("complete", { tokensPerSecond, generatedTokens, reused: generatedTokens * 2, recomputed: 7 });
        },
        [rate, tokens] as const,
      );
      await eventually(() => reply().getAttribute("data-status")).toBe("complete");
    }
    for (const [chat, words] of [
      ["A", "11.5 tok/s first token 0.21 s reused 202 · new 7 101 tokens"],
      ["B", "22.5 tok/s first token 0.21 s reused 404 · new 7 202 tokens"],
    ] as const) {
      await open.page.getByRole("button", { name: `Chat ${chat}`, exact: true }).click();
      await eventually(async () => (await reply().getByRole("note").innerText()).replace(/\s+/g, " ")).toBe(words);
    }
  });

  test("a crash leaves what was written, says why, and offers to go on", async () => {
    await open.show("new");
    await say(open, "Go");
    await open.script(() => {
      scripted.write("As far as");
      const crash = { code: "engine.crashed" as const, message: "It was killed (signal 9).", hint: "", detail: {} };
      scripted.engine = { ...scripted.engine, state: "restarting", lastCrash: crash };
      scripted.emit("engine.changed", scripted.engine);
      scripted.finish("interrupted", {}, crash);
    });
    await open.page.getByText("The engine stopped and is being restarted.").waitFor();
    expect(await reply().innerText()).toMatch(/As far as[\s\S]*Interrupted · It was killed \(signal 9\)\./);
    expect(await reply().getByRole("button", { name: "Continue" }).count()).toBe(1);
  });
});
