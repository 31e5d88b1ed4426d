import { describe, expect, test } from "vitest";
import { levelName, planPastThoughts, planThinking } from "../../../../renderer/logic/thinking.ts";
import { plainFeatures } from "../../../fixtures/page/sample.ts";

const nothing = { thinking: null, effort: null, keepThoughts: null };
const switched = { ...plainFeatures, thinking: "switch" as const, thinks: true };
const effort = { levels: ["low", "medium", "high"], initial: "medium" };

describe("keeping past thoughts", () => {
  const choice = { choice: true, kept: false };
  const fixed = { choice: false, kept: true };
  const features = { ...switched, pastThoughts: { thinking: fixed, answering: choice } };

  test("is offered where the template leaves a choice, as thinking is set", () => {
    expect(planPastThoughts(null, nothing)).toBeNull();
    expect(planPastThoughts(plainFeatures, { ...nothing, keepThoughts: true })).toBeNull();
    expect(planPastThoughts(features, { ...nothing, keepThoughts: true })).toBeNull();
    expect(planPastThoughts(features, { ...nothing, thinking: false })).toEqual({ kept: false });
    expect(planPastThoughts(features, { ...nothing, thinking: false, keepThoughts: true })).toEqual({ kept: true });
  });

  test("is the template's own way until somebody chooses", () => {
    const kept = { ...features, pastThoughts: { thinking: { choice: true, kept: true }, answering: choice } };
    expect(planPastThoughts(kept, nothing)).toEqual({ kept: true });
    expect(planPastThoughts(kept, { ...nothing, keepThoughts: false })).toEqual({ kept: false });
  });
});

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
