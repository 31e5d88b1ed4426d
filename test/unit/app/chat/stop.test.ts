import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStopMatcher } from "../../../../app/chat/stop.ts";

function stream(parts: readonly string[], stops: readonly string[]): { shown: string; stopped: string | null } {
  const matcher = createStopMatcher(stops);
  let shown = "";
  for (const part of parts) shown += matcher.push(part);
  return { shown: shown + matcher.flush(), stopped: matcher.stopped };
}

describe("stop strings", () => {
  it("are found across any cut, and what is shown ends right before the first", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 30 });
    const stops = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 }), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(text, stops, fc.array(fc.nat(30), { maxLength: 8 }), (whole, wanted, cuts) => {
        const borders = [0, ...[...cuts].sort((a, b) => a - b), whole.length];
        const parts = borders.slice(1).map((end, i) => whole.slice(Math.min(borders[i] ?? 0, whole.length), end));
        const { shown, stopped } = stream(parts, wanted);
        const first = Math.min(
          ...wanted.map((stop) => whole.indexOf(stop)).filter((at) => at >= 0),
          Number.POSITIVE_INFINITY,
        );
        expect(shown).toBe(first === Number.POSITIVE_INFINITY ? whole : whole.slice(0, first));
        expect(stopped === null).toBe(first === Number.POSITIVE_INFINITY);
      }),
      { numRuns: 3000 },
    );
  });

  it("hold back no more than a possible beginning", () => {
    const matcher = createStopMatcher(["\nUser:"]);
    expect(matcher.push("one\n")).toBe("one");
    expect(matcher.push("Us")).toBe("");
    expect(matcher.push("ual")).toBe("\nUsual");
    expect(matcher.push("\nUse")).toBe("");
    expect(matcher.push("r: me")).toBe("");
    expect(matcher.stopped).toBe("\nUser:");
    expect(matcher.push("more")).toBe("");
  });

  it("an empty one is none", () => {
    expect(stream(["abc"], [""])).toEqual({ shown: "abc", stopped: null });
  });
});
