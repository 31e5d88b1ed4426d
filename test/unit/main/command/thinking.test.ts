import { describe, expect, it } from "vitest";
import type { ChatFeatures } from "../../../../app/contract/model.ts";
import type { CommandContext } from "../../../../main/command/command.ts";
import { readThinking } from "../../../../main/command/thinking.ts";
import { plainFeatures, smallModel } from "../../../fixtures/page/sample.ts";

const levels = { levels: ["low", "high"], initial: "low" };
const read = (values: Record<string, string>, features: Partial<ChatFeatures> | null) =>
  readThinking({ values } as unknown as CommandContext, {
    ...smallModel,
    features: features === null ? null : { ...plainFeatures, ...features },
  });

describe("the options about thinking", () => {
  it("say what the template is asked for", () => {
    expect(read({}, null)).toEqual({});
    expect(read({ thinking: "off" }, { thinking: "switch" })).toEqual({ thinking: false });
    expect(read({ thinking: "on", effort: "high" }, { thinking: "switch", effort: levels })).toEqual({
      thinking: true,
      effort: "high",
    });
    expect(read({ thinking: "on", effort: "low" }, { thinking: "always", effort: levels })).toEqual({ effort: "low" });
  });

  it("keep thoughts where the template leaves a choice, as thinking is set", () => {
    const pastThoughts = { thinking: { choice: true, kept: false }, answering: { choice: false, kept: true } };
    const features = { thinking: "switch" as const, thinks: true, pastThoughts };
    expect(read({ "keep-thoughts": "on" }, features)).toEqual({ keepThoughts: true });
    expect(read({ "keep-thoughts": "off" }, features)).toEqual({ keepThoughts: false });
    expect(() => read({ thinking: "off", "keep-thoughts": "off" }, features)).toThrow(/always keeps .* not think/);
    expect(() => read({ "keep-thoughts": "on" }, {})).toThrow(/never keeps thoughts of earlier replies\.$/);
    expect(() => read({ "keep-thoughts": "on" }, null)).toThrow(/never keeps/);
    expect(() => read({ "keep-thoughts": "yes" }, features)).toThrow(/on or off/);
  });

  it("are refused where the template does not offer it", () => {
    expect(() => read({ thinking: "maybe" }, { thinking: "switch" })).toThrow(/on or off/);
    expect(() => read({ thinking: "off" }, { thinking: "always" })).toThrow(/always thinks/);
    expect(() => read({ thinking: "on" }, { thinking: "none" })).toThrow(/knows no thinking/);
    expect(() => read({ thinking: "on" }, null)).toThrow(/knows no thinking/);
    expect(() => read({ effort: "max" }, { thinking: "always", effort: levels })).toThrow(/It has: low, high/);
    expect(() => read({ effort: "low" }, { thinking: "switch" })).toThrow(/no levels/);
    expect(() => read({ thinking: "off", effort: "low" }, { thinking: "switch", effort: levels })).toThrow(
      /contradict/,
    );
  });
});
