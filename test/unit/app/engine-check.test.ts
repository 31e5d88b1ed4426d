import { describe, expect, test } from "vitest";
import { type GenerateRequest, type Sampling, samplerNames } from "../../../app/engine.ts";
import { checkGenerateRequest, samplingRanges } from "../../../app/engine-check.ts";
import { HalogenError } from "../../../app/error.ts";
import { generateRequest, greedy } from "../../fixtures/engine-request.ts";

function refusal(patch: Partial<GenerateRequest> & { sampling?: unknown }): HalogenError {
  try {
    checkGenerateRequest(generateRequest(0, Int32Array.of(1), patch as Partial<GenerateRequest>));
  } catch (error) {
    expect(error).toBeInstanceOf(HalogenError);
    return error as HalogenError;
  }
  throw new Error("it was not refused");
}

const sampling = (patch: Record<string, unknown>) => ({ sampling: { ...greedy, ...patch } as Sampling });

describe("a request", () => {
  test.each(Object.entries(samplingRanges))("with %s out of range is refused with the numbers", (name, range) => {
    const bad: unknown[] = [range.from - 1, range.to + 1, Number.NaN, "1", null];
    if ("above" in range) bad.push(range.from);
    if ("integer" in range) bad.push(1.5);
    for (const value of bad) {
      const error = refusal(sampling({ [name]: value }));
      expect(error.code).toBe("request.invalid");
      expect(error.message).toContain(`sampling.${name} must be`);
      expect(error.message).toContain(String(range.from));
      expect(error.message).toContain(String(range.to));
    }
    const least = "above" in range ? range.to / 2 : range.from;
    for (const value of [least, range.to])
      checkGenerateRequest(generateRequest(0, Int32Array.of(1), sampling({ [name]: value })));
  });

  test.each<[string, Partial<GenerateRequest>]>([
    [
      "sampling.logitBias[1].token",
      sampling({
        logitBias: [
          { token: 1, bias: 1 },
          { token: -1, bias: 1 },
        ],
      }),
    ],
    ["sampling.logitBias[0].bias", sampling({ logitBias: [{ token: 1, bias: Number.POSITIVE_INFINITY }] })],
    ["sampling.logitBias", sampling({ logitBias: { 1: 2 } })],
    ["sampling.suppress[0]", sampling({ suppress: [0.5] })],
    ["sampling.dryBreakers", sampling({ dryBreakers: [1, -1] })],
    ["sampling.order[1]", sampling({ order: ["top_k", "top_k"] })],
    ["sampling.order[0]", sampling({ order: ["mirostat"] })],
    ["sampling.order", sampling({ order: [] })],
    ["minTokens", { minTokens: -1 }],
    ["stopSequences[0]", { stopSequences: [new Int32Array()] }],
    ["stopSequences", { stopSequences: "x" as never }],
    ["stopTokens", { stopTokens: null as never }],
  ])("names %s", (parameter, patch) => {
    expect(refusal(patch).detail.parameter).toBe(parameter);
  });

  test("with everything set is taken", () => {
    checkGenerateRequest(
      generateRequest(0, Int32Array.of(1), {
        sampling: {
          ...greedy,
          dryBreakers: Int32Array.of(1, 2, -1),
          logitBias: [{ token: 0, bias: -3 }],
          suppress: [4],
          order: [...samplerNames].reverse(),
        },
        minTokens: 3,
        stopSequences: [Int32Array.of(1, 2)],
      }),
    );
  });
});
