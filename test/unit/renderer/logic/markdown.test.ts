import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createBlockSplitter,
  decodeEntities,
  markdownBlocks,
  safeHref,
  type Token,
} from "../../../../renderer/logic/markdown.ts";
import { richReply, tableReply } from "../../../fixtures/page/text.ts";

function raw(blocks: readonly Token[]): string {
  return blocks.map((block) => block.raw).join("");
}

/** The lexer may write white space of its own ("1. " becomes "1.\n"), so that is left out where texts are compared. */
function ink(text: string): string {
  return text.replace(/\s+/g, "");
}

function shape(blocks: readonly Token[]): string[] {
  return blocks.filter((block) => block.type !== "space").map((block) => `${block.type}: ${block.raw.trim()}`);
}

function textsOf(token: Token): string {
  if (token.type === "text" && !("tokens" in token && token.tokens)) return token.text;
  return ("tokens" in token ? (token.tokens ?? []) : []).map(textsOf).join("");
}

describe("blocks", () => {
  test("fault 1: money and variables stay text", () => {
    const text = "A is $5, B is $10, PATH=$HOME/bin:$PATH";
    const blocks = markdownBlocks(text);
    expect(blocks).toHaveLength(1);
    expect(blocks.map(textsOf).join("")).toBe(text);
  });

  test("fault 4: braces stay as written", () => {
    expect(markdownBlocks("```\n{{ name }}\n```")).toMatchObject([{ type: "code", text: "{{ name }}" }]);
  });

  test("fault 25: a reply that begins with < is text", () => {
    expect(markdownBlocks("<3 you").map(textsOf)).toEqual(["<3 you"]);
    expect(raw(markdownBlocks("<html>"))).toBe("<html>");
  });

  test("an unclosed tag changes nothing of what follows", () => {
    const blocks = markdownBlocks("see <a href=x> and https://example.org\n\nthen https://example.com");
    const links = JSON.stringify(blocks).match(/"type":"link"/g);
    expect(links).toHaveLength(2);
  });
});

describe("growing text", () => {
  const samples = [
    richReply,
    tableReply,
    "1. a\n\n2. b\n\n   more\n\nend",
    "- a\n\n- b\n\n\ntext\n===\n> q\n\n> r",
    "~~~~\n~~~\ncode\n~~~~\ndone",
  ];

  test.each(samples)("gives, a character at a time, what the whole gives at once (%#)", (text) => {
    const splitter = createBlockSplitter();
    let blocks: readonly Token[] = [];
    for (let end = 1; end <= text.length; end += 1) {
      blocks = splitter.update(text.slice(0, end));
      expect(ink(raw(blocks))).toBe(ink(text.slice(0, end)));
    }
    expect(shape(blocks)).toEqual(shape(markdownBlocks(text)));
  });

  test("never drops a character, whatever comes in whatever pieces", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "> ",
        "```",
        "```ts\n",
        "~~~",
        "# ",
        "|a|b|\n|-|-|\n",
        "<b>",
        "<!--",
        "    ",
        "**",
        "`",
        "\t",
      ),
      fc.string({ maxLength: 12, unit: "grapheme" }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const splitter = createBlockSplitter();
        let text = "";
        for (const next of pieces) {
          text += next;
          expect(ink(raw(splitter.update(text)))).toBe(ink(text));
        }
      }),
      { numRuns: 300 },
    );
  });

  test("keeps finished blocks as they are", () => {
    const splitter = createBlockSplitter();
    const before = splitter.update("one\n\ntwo\n\nthr");
    const after = splitter.update("one\n\ntwo\n\nthree\n\nfour");
    expect(after[0]).toBe(before[0]);
    expect(after[2]).toBe(before[2]);
  });

  test("lexes only what is new: a long reply costs a token no more than a short one", () => {
    const lines = (count: number) => Array.from({ length: count }, (_, index) => `Paragraph ${index}.`).join("\n\n");
    const splitter = createBlockSplitter();
    const long = `${lines(3000)}\n\nThe last`;
    const first = splitter.update(long);
    const second = splitter.update(`${long} word`);
    const changed = second.filter((block, index) => block !== first[index]);
    expect(changed).toHaveLength(1);
  });

  test("an open fence is one block with its language, and half a closing fence is not code", () => {
    const splitter = createBlockSplitter();
    expect(splitter.update("```ts\nlet a = 1;\n``")).toMatchObject([{ type: "code", lang: "ts", text: "let a = 1;" }]);
    expect(splitter.update("```ts\nlet a = 1;\n```\nnow text")).toMatchObject([
      { type: "code", text: "let a = 1;" },
      { type: "paragraph" },
    ]);
  });

  test("a long list is committed item by item and goes on counting", () => {
    const items = (count: number) =>
      Array.from({ length: count }, (_, index) => `${index + 1}. item number ${index + 1}\n`).join("");
    const splitter = createBlockSplitter();
    const blocks = splitter.update(items(200)).filter((block) => block.type === "list");
    expect(blocks.length).toBeGreaterThan(1);
    expect(blocks.at(-1)).toMatchObject({ start: 200 });
  });

  test("a text that does not continue the last one starts anew", () => {
    const splitter = createBlockSplitter();
    splitter.update("one\n\ntwo\n\nthree");
    expect(raw(splitter.update("other"))).toBe("other");
  });
});

describe("links", () => {
  test.each(["http://a.b/", "https://a.b/?q=1&r=2", "mailto:a@b.c"])("%s may be followed", (href) =>
    expect(safeHref(href)).toBe(href),
  );

  test.each([
    "javascript:alert(1)",
    "java&#115;cript:alert(1)",
    "JAVASCRIPT:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "/relative",
    "#hash",
    "",
  ])("%s may not", (href) => expect(safeHref(href)).toBeNull());
});

test("character references, and what only looks like one", () => {
  expect(decodeEntities("a &amp; b &#x1F44B; &#39; &lt;b&gt; &nosuch; AT&T &#0;")).toBe(
    "a & b 👋 ' <b> &nosuch; AT&T \ufffd",
  );
});
