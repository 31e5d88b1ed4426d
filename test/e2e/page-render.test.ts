/** How replies are shown: the rendering faults of other programs, in real Chromium under the product's content policy. */
import { describe, expect, test } from "vitest";
import { eventually, pageForEach, say } from "../fixtures/page/browser.ts";

const open = pageForEach();

const reply = () => open.page.locator('article[data-role="assistant"]').last();
const body = () => reply().locator(".markdown").last();

/** A reply in pieces, finished. */
async function answer(pieces: string[]): Promise<void> {
  await open.show("new");
  await say(open, "Go");
  await open.script((parts: string[]) => {
    for (const part of parts) scripted.write(part);
    scripted.finish();
  }, pieces);
  await eventually(() => reply().getAttribute("data-status")).toBe("complete");
}

describe("a reply", () => {
  test("fault 1: money and variables are text, not maths", async () => {
    const text = "A is $5, B is $10, PATH=$HOME/bin:$PATH";
    await answer([text]);
    expect(await body().innerText()).toBe(text);
    expect(await reply().locator("math, .katex, mjx-container").count()).toBe(0);
  });

  test("fault 3: HTML is shown as text and nothing of it lives", async () => {
    const html = "<select><option>x</option></select><img src=x onerror=alert(1)>";
    await answer([`${html}\n\n`, "inline `<textarea>` and <b>bold</b>"]);
    expect(await body().locator("p").first().innerText()).toBe(html);
    expect(await body().locator("code").innerText()).toBe("<textarea>");
    expect(await body().innerText()).toContain("<b>bold</b>");
    expect(await reply().locator("select, option, img, textarea, b, script, iframe").count()).toBe(0);
  });

  test("fault 4: braces are shown, and sent, as written", async () => {
    await open.show("new");
    await say(open, "Fill {{ name }} into {{{x}}} \\{{y}}");
    await open.script(() => {
      scripted.write("```\n{{ name }}\n```\nand {{ name }}");
      scripted.finish();
    });
    await eventually(() => body().innerText()).toContain("and {{ name }}");
    expect(await body().locator("pre").innerText()).toBe("{{ name }}");
    const sent = await open.requests("chat.send");
    expect(sent).toMatchObject([{ text: "Fill {{ name }} into {{{x}}} \\{{y}}" }]);
  });

  test("fault 11: characters that come in pieces are whole", async () => {
    const family = "👨‍👩‍👧‍👦";
    await answer(["\ud83d", "\udc4b ", ...family, " e", "\u0301"]);
    expect(await body().innerText()).toBe(`👋 ${family} e\u0301`);
  });

  test("fault 14: what is thought is not the answer", async () => {
    await open.show("new");
    await say(open, "Go");
    await open.script(() => scripted.write("the plan", "reasoning"));
    const title = reply().getByRole("button", { name: /^Thinking/ });
    await title.waitFor();
    expect(await title.getAttribute("aria-expanded")).toBe("true");
    await open.script(() => {
      scripted.endReasoning(6200, 341);
      scripted.write("hi");
      scripted.finish();
    });
    await reply().getByRole("button", { name: "Thought for 6.2 s · 341 tokens" }).waitFor();
    expect(await body().innerText()).toBe("hi");
    expect(await reply().innerText()).not.toContain("the plan");
  });

  test("a thought that never ended is marked", async () => {
    await open.show("new");
    await say(open, "Go");
    await open.script(() => {
      scripted.write("the pl", "reasoning");
      scripted.finish("stopped");
    });
    await reply().getByRole("button", { name: "Thinking, not finished" }).waitFor();
  });

  test.each(["<3 you", "<html>", "</think>"])("fault 25: a reply that begins with %s is text", async (text) => {
    await answer([...text]);
    expect(await body().innerText()).toBe(text);
  });

  test("links lead outside, and only where they may", async () => {
    await answer([
      "[good](https://example.org/a) [bad](javascript:alert(1)) [worse](data:text/html,x) ![picture](https://example.org/p.png)",
    ]);
    const links = body().getByRole("link");
    expect(await links.allInnerTexts()).toEqual(["good", "picture"]);
    for (const link of await links.all()) {
      expect(await link.getAttribute("target")).toBe("_blank");
      expect(await link.getAttribute("rel")).toContain("noopener");
    }
    expect(await body().innerText()).toContain("bad");
  });

  test("code is named, coloured without inline styles, and copied whole", async () => {
    await answer(["```ts\nconst a: number = 1;\n", "// done\n```"]);
    await eventually(() => body().locator(".code-keyword").count()).toBeGreaterThan(0);
    expect(await body().locator("figcaption").innerText()).toBe("ts");
    expect(await body().locator("pre [style]").count()).toBe(0);
    await open.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await body().getByRole("button", { name: "Copy code" }).click();
    await eventually(() => open.page.evaluate(() => navigator.clipboard.readText())).toBe(
      "const a: number = 1;\n// done",
    );
  });

  test("a very long word or line of code never widens the page", async () => {
    await answer([`${"x".repeat(3000)}\n\n\`\`\`\n${"y".repeat(3000)}\n\`\`\``]);
    const widths = await open.page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    expect(widths[0]).toBe(widths[1]);
    const column = await reply().boundingBox();
    expect(column?.width).toBeLessThanOrEqual(744);
  });

  test("tables, lists, quotations and headings keep their structure", async () => {
    await open.show("rich");
    await eventually(() => open.page.locator("td").count()).toBe(12);
    await open.page.getByRole("region", { name: "Conversation" }).evaluate((element) => element.scrollTo(0, 0));
    await open.page.locator("blockquote").waitFor();
    expect(await open.page.locator("article h3, article h4, article h5").allInnerTexts()).toEqual([
      "Heading one",
      "Heading two",
      "Heading three",
    ]);
    expect(await open.page.locator("ol > li").count()).toBe(3);
    expect(await open.page.getByRole("checkbox").count()).toBe(2);
  });
});
