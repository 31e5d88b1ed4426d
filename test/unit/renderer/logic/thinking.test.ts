import { describe, expect, test } from "vitest";
import { levelName, planThinking } from "../../../../renderer/logic/thinking.ts";
import { plainFeatures } from "../../../fixtures/page/sample.ts";

const nothing = { thinking: null, effort: null };
const switched = { ...plainFeatures, thinking: "switch" as const, thinks: true };
const effort = { levels: ["low", "medium", "high"], initial: "medium" };

describe("what the composer shows of thinking", () => {
  test("is nothing where the template has nothing", () => {
    expect(planThinking(null, nothing)).toBeNull();
    expect(planThinking(plainFeatures, { thinking: true, effort: "high" })).toBeNull();
  });

  test("is the template's own way until somebody chooses", () => {
    expect(planThinking(switched, nothing)).toMatchObject({ control: "switch", on: true });
    expect(planThinking({ ...switched, thinks: false }, nothing)).toMatchObject({ on: false });
    expect(planThinking({ ...switched, thinks: false }, { thinking: true, effort: null })).toMatchObject({ on: true });
    expect(planThinking(switched, { thinking: false, effort: null })).toMatchObject({ on: false });
  });

  test("cannot be off where the template always thinks", () => {
    const always = { ...switched, thinking: "always" as const, effort };
    expect(planThinking(always, { thinking: false, effort: "high" })).toEqual({
      control: "fixed",
      on: true,
      effort: { levels: effort.levels, chosen: "high", initial: "medium" },
    });
  });

  test("has levels only while the model thinks, and forgets those of other models", () => {
    const both = { ...switched, effort };
    expect(planThinking(both, { thinking: false, effort: "low" })?.effort).toBeNull();
    expect(planThinking(both, { thinking: true, effort: "max" })?.effort?.chosen).toBe("");
    expect(levelName("no_think")).toBe("No think");
  });
});
