import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../../../../app/contract/message.ts";
import { branchCount, conversation, messageText } from "../../../../renderer/logic/conversation.ts";

function message(id: string, parentId: string | null, createdAt: number, role: Message["role"] = "user"): Message {
  const rest = { blocks: [], status: "complete" as const, error: null, modelId: null, modelName: null, stats: null };
  return { id, sessionId: "s", parentId, role, createdAt, ...rest };
}

function byId(messages: Message[]): Map<string, Message> {
  return new Map(messages.map((one) => [one.id, one]));
}

describe("the shown branch", () => {
  const tree = byId([
    message("a", null, 1),
    message("b1", "a", 2),
    message("b2", "a", 3),
    message("c", "b1", 4),
    message("d1", "c", 5),
    message("d2", "c", 6),
  ]);

  test("runs from the first message to the head, with siblings oldest first", () => {
    const rows = conversation(tree, "d1");
    expect(rows.map((row) => row.message.id)).toEqual(["a", "b1", "c", "d1"]);
    expect(rows.map((row) => `${row.index + 1}/${row.siblings.length}`)).toEqual(["1/1", "1/2", "1/1", "1/2"]);
  });

  test("a head that is not there shows the newest branch, not nothing", () => {
    expect(conversation(tree, "gone").map((row) => row.message.id)).toEqual(["a", "b1", "c", "d2"]);
    expect(conversation(tree, null).map((row) => row.message.id)).toEqual(["a", "b1", "c", "d2"]);
    expect(conversation(new Map(), null)).toEqual([]);
  });

  test("a parent that is not there, or a loop, does not hang", () => {
    expect(conversation(byId([message("x", "lost", 1)]), "x").map((row) => row.message.id)).toEqual(["x"]);
    const loop = byId([message("x", "y", 1), message("y", "x", 2)]);
    expect(conversation(loop, "y").map((row) => row.message.id)).toEqual(["x", "y"]);
  });

  test("branches are counted by their ends", () => {
    expect(branchCount(tree)).toBe(3);
    expect(branchCount(new Map())).toBe(0);
  });

  test("system messages are not rows", () => {
    const rows = conversation(byId([message("sys", null, 1, "system"), message("a", "sys", 2)]), "a");
    expect(rows.map((row) => row.message.id)).toEqual(["a"]);
  });

  test("fault 70: by its arrows alone, every message of any tree can be reached", () => {
    const parents = fc.array(fc.nat(), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(parents, (choices) => {
        const messages = choices.map((choice, index) =>
          message(
            `m${index}`,
            index === 0 || choice % (index + 1) === index ? null : `m${choice % (index + 1)}`,
            index,
          ),
        );
        const all = byId(messages);
        const reached = new Set<string>();
        const heads = ["m0"];
        for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
          for (const row of conversation(all, newestLeafBelow(messages, head))) {
            for (const sibling of row.siblings) if (!reached.has(sibling.id)) heads.push(sibling.id);
            reached.add(row.message.id);
          }
        }
        expect(reached.size).toBe(messages.length);
      }),
    );
  });
});

/** As main does it on session.select. */
function newestLeafBelow(messages: Message[], id: string): string {
  const child = messages.filter((one) => one.parentId === id).at(-1);
  return child ? newestLeafBelow(messages, child.id) : id;
}

test("copying takes the text, not the thoughts", () => {
  const blocks: Message["blocks"] = [
    { type: "reasoning", text: "hm", finished: true, milliseconds: 1, tokens: 1 },
    { type: "text", text: "one " },
    { type: "text", text: "two" },
  ];
  expect(messageText({ blocks })).toBe("one two");
});
