import { expect, test } from "vitest";
import { errorDetails } from "../../../../renderer/logic/error-detail.ts";

const GiB = 1024 ** 3;

test("a plan that does not fit is told in units, from the whole to its parts, without those that take nothing", () => {
  const detail = {
    available: 22.2 * GiB,
    checkpoints: 0,
    contextLength: 9_000_000,
    kv: 193.1 * GiB,
    needed: 193.2 * GiB,
    weights: 98_000_000,
  };
  expect(errorDetails({ code: "model.too_large", detail })).toEqual([
    ["needed", "193 GiB"],
    ["available", "22.2 GiB"],
    ["weights", "93.5 MiB"],
    ["keys and values", "193 GiB"],
    ["context length", "9,000,000"],
  ]);
});

test("other faults are told with their numbers as they are, 0 among them", () => {
  const detail = { promptTokens: 11_204, over: 0, first_line: "a", exact: true };
  expect(errorDetails({ code: "context.exceeded", detail })).toEqual([
    ["prompt tokens", "11,204"],
    ["over", "0"],
    ["first line", "a"],
    ["exact", "true"],
  ]);
});
