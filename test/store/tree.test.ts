/** Random trees: whatever was written is there after a restart, reachable, and only through its parent. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message } from "../../app/contract/message.ts";
import { addSession, message } from "./maker.ts";
import { scratchStore } from "./scratch.ts";

const roles: Message["role"][] = ["user", "assistant", "system"];

/** For each message: which earlier one is its parent (0 = none), its text, and whether the head follows. */
const treeArbitrary = fc.array(
  fc.record({
    parent: fc.nat(),
    text: fc.string({ unit: "grapheme", maxLength: 60 }),
    head: fc.boolean(),
    role: fc.constantFrom(...roles),
  }),
  { minLength: 1, maxLength: 40 },
);

describe("message tree", () => {
  it("is the same after a restart, with every path whole", () => {
    fc.assert(
      fc.property(treeArbitrary, (nodes) => {
        const scratch = scratchStore();
        addSession(scratch.store);
        const written: Message[] = [];
        let head: string | null = null;
        nodes.forEach((node, index) => {
          const parentId = written[(node.parent % (index + 1)) - 1]?.id ?? null;
          const next = message(`m${index}`, node.text, { parentId, role: node.role, createdAt: index });
          scratch.store.addMessage(next, { head: node.head });
          written.push(next);
          if (node.head) head = next.id;
        });
        const store = scratch.reopen();
        const document = store.document("s1");
        expect(document?.messages).toEqual(written);
        expect(document?.session.messageCount).toBe(written.length);
        expect(document?.session.headId).toBe(head ?? written[written.length - 1]?.id);
        const byId = new Map(written.map((entry) => [entry.id, entry]));
        for (const entry of written) {
          const path: Message[] = [];
          for (
            let at: Message | undefined = entry;
            at !== undefined;
            at = at.parentId === null ? undefined : byId.get(at.parentId)
          )
            path.unshift(at);
          expect(store.pathTo(entry.id)).toEqual(path);
        }
        scratch.store.close();
      }),
      { numRuns: 40 },
    );
  });

  it("keeps streamed text exact for any way of cutting it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary", maxLength: 12 }), { maxLength: 20 }),
        fc.boolean(),
        (pieces, restart) => {
          const scratch = scratchStore();
          addSession(scratch.store);
          let text = "";
          const state = (status: Message["status"]): Message => message("m1", text, { role: "assistant", status });
          scratch.store.addMessage(state("streaming"));
          for (const [index, piece] of pieces.entries()) {
            text += piece;
            scratch.store.updateMessage(state("streaming"));
            if (restart && index === 3) scratch.reopen();
          }
          scratch.store.updateMessage(state("complete"));
          // What is no Unicode text (half a pair for good) is stored as a replacement mark; the rest unit by unit.
          expect(scratch.reopen().message("m1")?.blocks).toEqual([
            { type: "text", text: Buffer.from(text, "utf8").toString("utf8") },
          ]);
          scratch.store.close();
        },
      ),
      { numRuns: 60 },
    );
  });
});
