import { describe, expect, test } from "vitest";
import { planParts, planWords } from "../../../app/plan.ts";
import { otherModels, smallModel } from "../../fixtures/page/sample.ts";

const fitted = otherModels.find(({ id }) => id === "phi")?.plan;

describe("the plan of a loaded model", () => {
  test("is told with every reason that it carries, and with what the context takes", () => {
    if (!fitted || !smallModel.plan) throw new Error("the samples have no plan");
    expect(planWords(smallModel.plan)).toBe(
      "The context is the model's own, 8,192 tokens. Keys and values: F16, 181 MiB.",
    );
    for (const part of ["largest that fits", "because F16", "long rope factors", "The context takes 8.6 GiB."])
      expect(planWords(fitted)).toContain(part);
    expect(planWords(fitted)).toContain("41,216 of the model's own 131,072 tokens.");
    expect(planWords({ ...fitted, reason: "It is 1234.5678 and 12345." })).toMatch(
      /^It is 1234\.5678 and 12,345\. Keys/,
    );
    expect(planWords({ ...fitted, reason: "" })).toBe("Keys and values: Q8_0, 8.6 GiB.");
  });

  test("lists what the memory goes to, and nothing that is empty", () => {
    if (!fitted) throw new Error("the sample has no plan");
    expect(planParts(fitted).map(([name]) => name)).toEqual(["Weights", "Keys and values", "Scratch", "In all"]);
    const hybrid = planParts({ ...fitted, recurrent: 5, checkpoints: 7 });
    expect(hybrid.slice(2, 4)).toEqual([
      ["Recurrent state", 5],
      ["Checkpoints", 7],
    ]);
  });
});
