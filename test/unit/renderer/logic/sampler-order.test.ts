import { describe, expect, test } from "vitest";
import { noSampling, ourSampling } from "../../../../app/contract/session.ts";
import { samplerNames } from "../../../../app/engine.ts";
import { moveStep, orderChoice, planOrder, toggleStep } from "../../../../renderer/logic/sampler-order.ts";
import { smallModel } from "../../../fixtures/page/sample.ts";

const short = { ...smallModel, defaults: { ...ourSampling, order: ["top_k" as const, "temperature" as const] } };
const included = (rows: ReturnType<typeof planOrder>) =>
  rows.filter(({ place }) => place !== null).map(({ name }) => name);

describe("the order of the samplers", () => {
  test("is shown as it runs, with what it runs with, and then what is left out", () => {
    const rows = planOrder(noSampling, smallModel);
    expect(included(rows)).toEqual([...samplerNames]);
    const notes = Object.fromEntries(rows.map(({ name, note }) => [name, note]));
    expect(notes).toMatchObject({ penalties: "off", top_k: "40", typical_p: "off", temperature: "0.8", xtc: "off" });
    const changed = planOrder({ ...noSampling, presencePenalty: 1, topK: 0, temperature: 0 }, smallModel);
    expect(changed.map(({ note }) => note).slice(0, 4)).toEqual(["on", "off", "off", "off"]);
    expect(changed.at(-1)).toMatchObject({ name: "temperature", note: "0" });
    const own = planOrder(noSampling, short);
    expect(own.slice(0, 3).map(({ name, place }) => [name, place])).toEqual([
      ["top_k", 1],
      ["temperature", 2],
      ["penalties", null],
    ]);
    expect(own).toHaveLength(samplerNames.length);
  });

  test("takes in a step that the user has a value for, and says of one that an own order loses it", () => {
    expect(included(planOrder({ ...noSampling, minP: 0.1 }, short))).toEqual(["top_k", "min_p", "temperature"]);
    const own = planOrder({ ...noSampling, minP: 0.1, order: ["temperature"] }, short);
    expect(own.filter(({ lost }) => lost).map(({ name }) => name)).toEqual(["min_p"]);
  });

  test("moves a step by one and not over the ends", () => {
    const rows = planOrder({ ...noSampling, order: ["top_k", "top_p", "temperature"] }, smallModel);
    expect(moveStep(rows, "top_p", -1)).toEqual(["top_p", "top_k", "temperature"]);
    expect(moveStep(rows, "top_p", 1)).toEqual(["top_k", "temperature", "top_p"]);
    expect(moveStep(rows, "top_k", -1)).toEqual(["top_k", "top_p", "temperature"]);
    expect(moveStep(rows, "xtc", 1)).toEqual(["top_k", "top_p", "temperature"]);
  });

  test("takes a step out and puts it back at its usual place, but keeps the last", () => {
    const rows = planOrder({ ...noSampling, order: ["temperature", "top_k"] }, smallModel);
    expect(toggleStep(rows, "top_k")).toEqual(["temperature"]);
    expect(toggleStep(rows, "penalties")).toEqual(["penalties", "temperature", "top_k"]);
    expect(toggleStep(planOrder({ ...noSampling, order: ["xtc"] }, smallModel), "xtc")).toEqual(["xtc"]);
  });

  test("is none of its own when it is the usual one again", () => {
    expect(orderChoice([...samplerNames], { ...noSampling, order: ["xtc"] }, smallModel)).toBeNull();
    expect(orderChoice(["xtc"], noSampling, smallModel)).toEqual(["xtc"]);
    expect(orderChoice(["top_k", "temperature"], noSampling, short)).toBeNull();
  });
});
