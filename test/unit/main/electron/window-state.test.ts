import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Rectangle, restoreWindow, smallest } from "../../../../main/electron/window-state.ts";

const main: Rectangle = { x: 0, y: 24, width: 1920, height: 1056 };
const left: Rectangle = { x: -1280, y: 0, width: 1280, height: 1024 };

describe("window state", () => {
  test("what was stored comes back, on any screen that is there", () => {
    for (const x of [100, -1200]) {
      const stored = { x, y: 80, width: 900, height: 700, maximized: true };
      expect(restoreWindow(stored, [main, left])).toEqual({
        bounds: { x, y: 80, width: 900, height: 700 },
        maximized: true,
      });
    }
  });

  test("a screen that is gone: the size stays, the system chooses the place", () => {
    const stored = { x: -1200, y: 80, width: 900, height: 700, maximized: false };
    expect(restoreWindow(stored, [main])).toEqual({ bounds: { width: 900, height: 700 }, maximized: false });
  });

  test.each([
    ["above the screen", { x: 100, y: -300 }],
    ["below it", { x: 100, y: 1070 }],
    ["only a sliver at the right", { x: 1900, y: 100 }],
    ["under the top panel", { x: 100, y: 0 }],
  ])("%s the title bar cannot be dragged, so no place is given", (_name, place) => {
    const { bounds } = restoreWindow({ ...place, width: 900, height: 700, maximized: false }, [main]);
    expect(bounds).toEqual({ width: 900, height: 700 });
  });

  test("a window larger than its screen is made to fit", () => {
    const stored = { x: 0, y: 24, width: 9000, height: 9000, maximized: false };
    expect(restoreWindow(stored, [main]).bounds).toEqual({ x: 0, y: 24, width: 1920, height: 1056 });
  });

  test("whatever was stored, the window is usable", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything(), fc.object({ key: fc.constantFrom("x", "y", "width", "height", "maximized") })),
        (stored) => {
          const { bounds } = restoreWindow(stored, [main]);
          expect(bounds.width).toBeGreaterThanOrEqual(smallest.width);
          expect(bounds.height).toBeGreaterThanOrEqual(smallest.height);
          expect(bounds.width).toBeLessThanOrEqual(main.width);
        },
      ),
    );
  });

  test("any numbers give a place that can be reached, or none", () => {
    const number = fc.integer({ min: -120_000, max: 120_000 });
    fc.assert(
      fc.property(number, number, number, number, (x, y, width, height) => {
        const { bounds } = restoreWindow({ x, y, width, height, maximized: false }, [main, left]);
        if (bounds.x === undefined || bounds.y === undefined) return;
        const { x: at, y: top } = bounds;
        expect(
          [main, left].some((area) => at < area.x + area.width && at + bounds.width > area.x && top >= area.y),
        ).toBe(true);
      }),
    );
  });

  test("no screen at all still gives a window", () => {
    expect(restoreWindow(null, []).bounds.width).toBeGreaterThan(0);
  });
});
