import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTree, type Node } from "../../../../app/session/tree.ts";

const node = (id: string, parentId: string | null): Node => ({ id, parentId });
const ids = (nodes: readonly Node[]): string[] => nodes.map((each) => each.id);

/**
 * u1 - a1 - u2 - a2
 *    \      \ u3 - a3
 *     a4
 */
const nodes = [
  node("u1", null),
  node("a1", "u1"),
  node("u2", "a1"),
  node("a2", "u2"),
  node("a4", "u1"),
  node("u3", "a1"),
  node("a3", "u3"),
];

describe("the tree", () => {
  const tree = createTree(nodes);

  it("gives children in creation order, derived from the parent alone", () => {
    expect(ids(tree.children(null))).toEqual(["u1"]);
    expect(ids(tree.children("u1"))).toEqual(["a1", "a4"]);
    expect(ids(tree.children("a1"))).toEqual(["u2", "u3"]);
    expect(tree.children("a3")).toEqual([]);
  });

  it("gives the path to a message, and its siblings", () => {
    expect(ids(tree.pathTo("a2"))).toEqual(["u1", "a1", "u2", "a2"]);
    expect(tree.pathTo("nobody")).toEqual([]);
    expect(ids(tree.siblings("u3"))).toEqual(["u2", "u3"]);
    expect(ids(tree.siblings("u1"))).toEqual(["u1"]);
    expect(tree.parent("a1")?.id).toBe("u1");
  });

  it("gives the leaf below that was made last", () => {
    expect(tree.newestLeaf("u1")).toBe("a3");
    expect(tree.newestLeaf("u2")).toBe("a2");
    expect(tree.newestLeaf("a4")).toBe("a4");
  });

  it("knows what to show after a delete", () => {
    expect(tree.headAfterDelete("a4")).toBe("a3");
    expect(tree.headAfterDelete("u3")).toBe("a2");
    expect(tree.headAfterDelete("a3")).toBe("u3");
    expect(tree.headAfterDelete("u1")).toBeNull();
    expect(tree.headAfterDelete("nobody")).toBeNull();
  });
});

describe("damaged links", () => {
  it("a message without its parent is a first message", () => {
    const tree = createTree([node("a", null), node("lost", "gone"), node("b", "lost")]);
    expect(ids(tree.children(null))).toEqual(["a", "lost"]);
    expect(ids(tree.pathTo("b"))).toEqual(["lost", "b"]);
    expect(ids(tree.siblings("lost"))).toEqual(["a", "lost"]);
    expect(tree.headAfterDelete("lost")).toBe("a");
  });

  it("every message can be reached from the first ones, once, whatever the parents say", () => {
    const parents = fc.array(fc.option(fc.nat(11), { nil: null }), { maxLength: 10 });
    fc.assert(
      fc.property(parents, (list) => {
        const made = list.map((parent, index) => node(`m${index}`, parent === null ? null : `m${parent}`));
        const tree = createTree(made);
        const reached: string[] = [];
        const visit = (id: string | null): void => {
          for (const child of tree.children(id)) {
            reached.push(child.id);
            expect(reached.length).toBeLessThanOrEqual(made.length);
            visit(child.id);
          }
        };
        visit(null);
        expect(reached.sort()).toEqual(made.map((each) => each.id).sort());
        for (const each of made) {
          expect(ids(tree.pathTo(each.id)).pop()).toBe(each.id);
          expect(tree.children(tree.newestLeaf(each.id))).toEqual([]);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
