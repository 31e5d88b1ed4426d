import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Piece } from "../../../../app/chat/piece.ts";
import {
  createThinkingSplitter,
  findTagsAround,
  findThinkingTags,
  knownTags,
  markupOf,
  type ThinkingStart,
  thinkingStart,
} from "../../../../app/chat/thinking.ts";

const tags = { open: "<think>", close: "</think>" };

function split(parts: readonly string[], start: ThinkingStart = "open"): { pieces: Piece[]; inside: boolean } {
  const splitter = createThinkingSplitter(tags, start);
  const pieces = parts.flatMap((part) => splitter.push(part));
  return { pieces: [...pieces, ...splitter.flush()], inside: splitter.inside };
}

function read(
  parts: readonly string[],
  start: ThinkingStart = "open",
): { text: string; reasoning: string; inside: boolean } {
  const { pieces, inside } = split(parts, start);
  const of = (kind: Piece["kind"]): string =>
    pieces
      .filter((piece) => piece.kind === kind)
      .map((piece) => piece.text)
      .join("");
  return { text: of("text"), reasoning: of("reasoning"), inside };
}

describe("the splitter", () => {
  it("never drops a character, and where the stream is cut makes no difference", () => {
    const alphabet = fc.constantFrom("<think>", "</think>", "<", "</", "think>", "\n", " ", "a", "b", "👋", "<|", "/");
    const starts = fc.constantFrom<ThinkingStart>("open", "reasoning", "text");
    fc.assert(
      fc.property(
        fc.array(alphabet, { maxLength: 20 }),
        starts,
        fc.array(fc.nat(60), { maxLength: 8 }),
        (units, start, cuts) => {
          const whole = units.join("");
          const borders = [0, ...[...cuts].sort((a, b) => a - b), whole.length];
          const parts = borders.slice(1).map((end, i) => whole.slice(Math.min(borders[i] ?? 0, whole.length), end));
          expect(
            split(parts, start)
              .pieces.map((piece) => piece.text)
              .join(""),
          ).toBe(whole);
          expect(read(parts, start)).toEqual(read([whole], start));
        },
      ),
      { numRuns: 3000 },
    );
  });

  it("separates thoughts from the answer, without the line breaks of the tags", () => {
    expect(read(["<think>\nplan\n\nmore\n</think>\n\nhi\n"])).toEqual({
      reasoning: "plan\n\nmore",
      text: "hi\n",
      inside: false,
    });
  });

  it("starts inside when the template has opened the block", () => {
    expect(read(["plan</think>hi"], "reasoning")).toEqual({ reasoning: "plan", text: "hi", inside: false });
  });

  it("keeps thoughts that are never closed as thoughts", () => {
    expect(read(["<think>still at it <"])).toEqual({ reasoning: "still at it <", text: "", inside: true });
  });

  it("takes a tag in the middle of an answer as text", () => {
    expect(read(["Write <think> and </think> like this"]).text).toBe("Write <think> and </think> like this");
    expect(read(["<think>a</think>b <think>c</think>"])).toMatchObject({ reasoning: "a", text: "b <think>c</think>" });
  });

  it.each(["<3 you", "<html>", "<thin", " <", "</think>x", "<thinking>"])(
    "takes a reply that begins with %j as text",
    (reply) => {
      expect(read([...reply])).toEqual({ text: reply, reasoning: "", inside: false });
    },
  );

  it("leaves tool syntax inside thoughts there", () => {
    expect(read(["<think>use <tool_call><function=x></think>ok"])).toMatchObject({
      reasoning: "use <tool_call><function=x>",
      text: "ok",
    });
  });

  it("shows the first word of an answer at once", () => {
    const splitter = createThinkingSplitter(tags, "open");
    expect(splitter.push("Hel")).toEqual([{ kind: "text", text: "Hel" }]);
  });
});

describe("every family's markup", () => {
  it.each(knownTags.map((each) => [`${each.open} ${each.sign ?? ""}`, each] as const))("%s", (_, family) => {
    const joined = (pieces: Piece[], kind?: Piece["kind"]): string =>
      pieces
        .filter((piece) => kind === undefined || piece.kind === kind)
        .map((piece) => piece.text)
        .join("");
    const run = (parts: readonly string[], start: ThinkingStart): Piece[] => {
      const splitter = createThinkingSplitter(family, start);
      return [...parts.flatMap((part) => splitter.push(part)), ...splitter.flush()];
    };
    const markup = markupOf(family);
    const unit = fc.constantFrom(...markup, ...markup.map((each) => each.slice(0, -1)), "\n", " ", "a", "👋", "<", "[");
    const starts = fc.constantFrom<ThinkingStart>("open", "reasoning", "text");
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 12 }), starts, (units, start) => {
        const whole = units.join("");
        const at = run([whole], start);
        // In every position, and one unit at a time.
        for (let cut = 0; cut <= whole.length; cut++) {
          const parts = run([whole.slice(0, cut), whole.slice(cut)], start);
          for (const kind of [undefined, "text", "reasoning", "markup"] as const) {
            expect(joined(parts, kind)).toBe(joined(at, kind));
          }
        }
        const single = run(whole.split(""), start);
        expect(joined(single)).toBe(whole);
        expect(joined(single, "reasoning")).toBe(joined(at, "reasoning"));
      }),
      { numRuns: 150 },
    );
    const thought = `${family.open}\nplan\n${family.close}\n${family.answers?.[0] ?? ""}hi`;
    expect([joined(run([thought], "open"), "reasoning"), joined(run([thought], "open"), "text")]).toEqual([
      "plan",
      "hi",
    ]);
  });
});

describe("Solar Open's parts", () => {
  const solar = knownTags.find(({ open }) => open === "<|think|>");
  const parts = (reply: string): string[] => {
    const splitter = createThinkingSplitter(solar ?? tags, "open");
    return [...splitter.push(reply), ...splitter.flush()].filter(({ kind }) => kind !== "markup").map((p) => p.text);
  };

  it("are a thought and an answer, both ended by the same mark", () => {
    expect(parts("<|think|>plan<|end|><|begin|>assistant<|content|>Hi<|end|>")).toEqual(["plan", "Hi"]);
    expect(parts("<|content|>Hi<|end|>")).toEqual(["Hi"]);
  });
});

describe("tags around a thought", () => {
  it("are those of a family, or any that only thoughts have", () => {
    expect(findTagsAround("<a><think>\nT\n</think>\n\nA", "T", "<a><think></think>A")).toMatchObject({
      open: "<think>",
      close: "</think>",
      spacing: ["\n", "\n", "\n\n"],
    });
    expect(findTagsAround("<a>[musing] T [/musing]A", "T", "<a>A")).toEqual({
      open: "[musing]",
      close: "[/musing]",
      spacing: [" ", " ", ""],
    });
    expect(findTagsAround("<start>T<end><start>A<end>", "T", "<start>A<end>")).toBeNull();
    expect(findTagsAround("<a>A", "T", "<a>A")).toBeNull();
  });
});

describe("channels", () => {
  const harmony = findThinkingTags(null, (text) => text === "<|channel|>");
  const read = (whole: string): string[][] => {
    const splitter = createThinkingSplitter(harmony, "open");
    const pieces = [...whole].flatMap((part) => splitter.push(part)).concat(splitter.flush());
    const of = (kind: Piece["kind"]): string =>
      pieces
        .filter((piece) => piece.kind === kind)
        .map((piece) => piece.text)
        .join("");
    return [[of("reasoning"), of("text")]];
  };

  it("are thoughts and answer", () => {
    const thought = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>yes";
    expect(read(thought)).toEqual([["hm", "yes"]]);
  });

  it("may come in any order", () => {
    const end = "<|end|><|start|>assistant";
    const [analysis, commentary, final] = ["analysis", "commentary", "final"].map(
      (name) => `<|channel|>${name}<|message|>`,
    );
    expect(read(`${analysis}a${end}${commentary}b${end}${analysis}c${end}${final}d`)).toEqual([["ac", "bd"]]);
  });

  const thought = "<|channel|>analysis<|message|>t";
  const next = "<|end|><|start|>assistant";

  it.each([
    ["a kind of content", `${thought}${next}<|channel|>final <|constrain|>json<|message|>{"a":1}`, "t", '{"a":1}'],
    ["the kind without its mark", `${thought}${next}<|channel|>final json<|message|>{}`, "t", "{}"],
    ["a recipient", `${thought}${next}<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}`, "t", "{}"],
    ["the recipient in front", `${thought}${next} to=functions.f<|channel|>commentary json<|message|>{}`, "t", "{}"],
    ["no new turn", `${thought}<|end|><|channel|>final<|message|>A`, "t", "A"],
    ["no end", `${thought}<|channel|>final<|message|>A`, "t", "A"],
    ["free words", `${thought}${next}<|channel|>commentary?<|message|>A`, "t", "A"],
    ["no channel", "<|message|>A", "", "A"],
    ["a mark that the prompt wrote", `analysis<|message|>t${next}<|channel|>final<|message|>A`, "t", "A"],
    ["only the recipient behind it", " to=functions.f<|channel|>commentary<|message|>{}", "", "{}"],
  ])("may have a header with %s", (_, whole, reasoning, text) => {
    expect(read(whole)).toEqual([[reasoning, text]]);
  });

  it.each([
    ["analysis of it: two", "analysis of it: two"],
    ["final answer", "final answer"],
    ["A <|channel|> b", "A <|channel|> b"],
    ["A <|start|>assistant says", "A <|start|>assistant says"],
    [`<|channel|>final<|message|>A <|message${"x".repeat(300)}`, `A <|message${"x".repeat(300)}`],
    [
      `<|channel|>final<|message|>A <|channel|>${"x".repeat(300)}<|message|>`,
      `A <|channel|>${"x".repeat(300)}<|message|>`,
    ],
  ])("leave what only looks like a header: %s", (whole, text) => {
    expect(read(whole)).toEqual([["", text]]);
  });

  it("hide a header that was cut off", () => {
    expect(read(`${thought}${next}<|channel|>fin`)).toEqual([["t", ""]]);
  });

  it("may hold an answer alone", () => {
    expect(read("<|channel|>final<|message|>yes")).toEqual([["", "yes"]]);
    expect(read("<|chan")).toEqual([["", "<|chan"]]);
  });
});

describe("the start", () => {
  it("is read off the end of the prompt", () => {
    expect(thinkingStart("<|im_start|>assistant\n<think>\n", tags)).toBe("reasoning");
    expect(thinkingStart("<|im_start|>assistant\n<think>\n\n</think>\n\n", tags)).toBe("text");
    expect(thinkingStart("<|im_start|>user\n<think><|im_end|>\n<|im_start|>assistant\n", tags)).toBe("open");
  });
});

describe("the tags", () => {
  it("come from the template, then from the vocabulary, then are the common ones", () => {
    expect(findThinkingTags("{{ '[THINK]' }}{{ '[/THINK]' }}", () => false).open).toBe("[THINK]");
    expect(findThinkingTags("no tags", (text) => text.includes("seed:think")).open).toBe("<seed:think>");
    expect(findThinkingTags(null, () => false).open).toBe("<think>");
    expect(findThinkingTags(null, (text) => text === "<channel|>").open).toBe("<|channel>thought");
  });
});
