import { describe, expect, test } from "vitest";
import { afterIntentUp, afterScroll, distanceToEnd, initialAnchor } from "../../../../renderer/logic/anchor.ts";

const viewport = 600;
const atEnd = afterScroll(initialAnchor, { top: 400, height: 1000, viewport });

describe("following the end", () => {
  test("text that grows below a reader at the end does not let go", () => {
    expect(afterScroll(atEnd, { top: 400, height: 1400, viewport }).follows).toBe(true);
  });

  test("the reader going up lets go, and text that comes after does not take hold", () => {
    const up = afterScroll(atEnd, { top: 300, height: 1000, viewport });
    expect(up.follows).toBe(false);
    expect(afterScroll(up, { top: 300, height: 3000, viewport }).follows).toBe(false);
  });

  test("a small turn of the wheel is enough, before any event of scrolling", () => {
    const up = afterIntentUp(atEnd);
    expect(up.follows).toBe(false);
    expect(afterScroll(up, { top: 390, height: 1000, viewport }).follows).toBe(false);
  });

  test("coming back to the end takes hold", () => {
    const up = afterScroll(atEnd, { top: 100, height: 1000, viewport });
    expect(afterScroll(up, { top: 395, height: 1000, viewport }).follows).toBe(true);
  });

  test("content that changes its height moves the view without the reader's wish", () => {
    expect(afterScroll(atEnd, { top: 50, height: 700, viewport }).follows).toBe(true);
    expect(afterScroll(atEnd, { top: 300, height: 1200, viewport }).follows).toBe(true);
  });

  test("unless the reader's hand was seen at the same time", () => {
    expect(afterScroll(atEnd, { top: 300, height: 1200, viewport }, true).follows).toBe(false);
  });

  test("distance is never negative", () => {
    expect(distanceToEnd({ top: 50, height: 600, viewport })).toBe(0);
  });
});
