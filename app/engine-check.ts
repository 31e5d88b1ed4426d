/** The one validation layer in front of every engine: messages name parameter, expectation and value. */
import {
  type BackendName,
  type GenerateRequest,
  type LoadOptions,
  type Sampling,
  samplerNames,
  type ThoughtMarker,
} from "./engine.ts";
import { HalogenError } from "./error.ts";

const backends: readonly (BackendName | "auto")[] = ["auto", "cpu", "hip", "cuda", "vulkan", "npu", "remote"];
const kvTypes: readonly LoadOptions["kvType"][] = ["auto", "f32", "f16", "bf16", "q8_0"];

const grammarKinds: readonly string[] = ["json", "json_schema", "regex", "ebnf"];

/** Of what opens, ends or follows a thought. Characters. */
const longestMarker = 200;

export const largestThreads = 1024;
export const largestAlternatives = 256;
/** Largest value that is exact in a number and fits the engine's counters. */
export const largestCount = Number.MAX_SAFE_INTEGER;

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (ArrayBuffer.isView(value)) return `${value.constructor.name} of ${value.byteLength} bytes`;
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}

function refuse(parameter: string, expected: string, value: unknown): never {
  throw new HalogenError("request.invalid", `${parameter} must be ${expected}, not ${show(value)}`, {
    detail: { parameter, expected, value: show(value) },
  });
}

function checkInteger(parameter: string, value: unknown, from: number, to: number): void {
  if (typeof value !== "number" || !Number.isInteger(value) || value < from || value > to) {
    refuse(parameter, `an integer from ${from} to ${to}`, value);
  }
}

function checkObject(parameter: string, value: unknown): void {
  if (typeof value !== "object" || value === null) refuse(parameter, "an object", value);
}

export function checkPath(parameter: string, value: unknown): void {
  if (typeof value !== "string" || value === "" || value.includes("\0")) {
    refuse(parameter, "a file path (a string, not empty, without NUL)", value);
  }
}

export function checkHandle(value: unknown): void {
  checkInteger("handle", value, 0, largestCount);
}

export function checkTokens(parameter: string, value: unknown): void {
  if (!(value instanceof Int32Array) || value.length === 0)
    refuse(parameter, "an Int32Array of at least one token", value);
}

export function checkLoadOptions(options: LoadOptions): void {
  checkObject("options", options);
  checkPath("options.path", options.path);
  if (!backends.includes(options.backend)) refuse("options.backend", `one of ${backends.join(", ")}`, options.backend);
  checkInteger("options.contextLength", options.contextLength, 0, largestCount);
  if (!kvTypes.includes(options.kvType)) refuse("options.kvType", `one of ${kvTypes.join(", ")}`, options.kvType);
  checkInteger("options.threads", options.threads, 0, largestThreads);
}

/** Least and most value of a sampling number; `above`: the least itself is not allowed. The native engine checks the same again. */
interface Range {
  from: number;
  to: number;
  above?: true;
  integer?: true;
}

const wholeMost = 2 ** 31 - 1;

export const samplingRanges = {
  temperature: { from: 0, to: 100 },
  temperatureRange: { from: 0, to: 100 },
  temperatureExponent: { from: 0, to: 100, above: true },
  topK: { from: 0, to: wholeMost, integer: true },
  topP: { from: 0, to: 1, above: true },
  minP: { from: 0, to: 1 },
  typicalP: { from: 0, to: 1, above: true },
  topNSigma: { from: 0, to: 100 },
  xtcProbability: { from: 0, to: 1 },
  xtcThreshold: { from: 0, to: 1 },
  repetitionPenalty: { from: 0, to: 100, above: true },
  presencePenalty: { from: -100, to: 100 },
  frequencyPenalty: { from: -100, to: 100 },
  penaltyLastN: { from: -1, to: wholeMost, integer: true },
  dryMultiplier: { from: 0, to: 100 },
  dryBase: { from: 1, to: 100 },
  dryAllowedLength: { from: 0, to: wholeMost, integer: true },
  dryLastN: { from: -1, to: wholeMost, integer: true },
} as const satisfies Partial<Record<keyof Sampling, Range>>;

export type SamplingNumber = keyof typeof samplingRanges;

const required: readonly string[] = ["temperature", "topK", "topP", "minP"];

function checkNumber(parameter: string, value: unknown, { from, to, above, integer }: Range): void {
  const ok =
    typeof value === "number" &&
    (above ? value > from : value >= from) &&
    value <= to &&
    (!integer || Number.isInteger(value));
  if (ok) return;
  const kind = integer ? "an integer" : "a number";
  refuse(parameter, above ? `${kind} above ${from}, at most ${to}` : `${kind} from ${from} to ${to}`, value);
}

function checkIds(parameter: string, value: unknown): asserts value is number[] {
  if (!Array.isArray(value)) refuse(parameter, "an array of token ids", value);
  value.forEach((id, index) => {
    checkInteger(`${parameter}[${index}]`, id, 0, wholeMost);
  });
}

function checkSampling(sampling: Sampling): void {
  checkObject("sampling", sampling);
  for (const [name, range] of Object.entries(samplingRanges)) {
    const value = sampling[name as SamplingNumber];
    if (value !== undefined || required.includes(name)) checkNumber(`sampling.${name}`, value, range);
  }
  const { dryBreakers, logitBias, suppress, order, seed } = sampling;
  if (dryBreakers !== undefined && !(dryBreakers instanceof Int32Array)) {
    refuse("sampling.dryBreakers", "an Int32Array of sequences, each ended by -1", dryBreakers);
  }
  if (logitBias !== undefined) {
    if (!Array.isArray(logitBias)) refuse("sampling.logitBias", "an array of {token, bias}", logitBias);
    logitBias.forEach((each, index) => {
      checkObject(`sampling.logitBias[${index}]`, each);
      checkInteger(`sampling.logitBias[${index}].token`, each.token, 0, wholeMost);
      checkNumber(`sampling.logitBias[${index}].bias`, each.bias, { from: -10_000, to: 10_000 });
    });
  }
  if (suppress !== undefined) checkIds("sampling.suppress", suppress);
  if (order !== undefined) {
    const expected = `an array of different names out of ${samplerNames.join(", ")}`;
    if (!Array.isArray(order) || order.length === 0) refuse("sampling.order", expected, order);
    order.forEach((name, index) => {
      const known = samplerNames.includes(name) && order.indexOf(name) === index;
      if (!known) refuse(`sampling.order[${index}]`, expected, name);
    });
  }
  if (seed !== null) checkInteger("sampling.seed", seed, 0, largestCount);
}

function checkThought({ grammar, thought }: GenerateRequest): void {
  checkObject("thought", thought);
  const { begun, opens, leads, never, answers } = thought as NonNullable<typeof thought>;
  if (grammar === undefined) refuse("thought", "absent where there is no grammar", thought);
  if (typeof begun !== "boolean") refuse("thought.begun", "true or false", begun);
  checkMarkers("thought.opens", opens);
  checkMarkers("thought.leads", leads);
  if (!leads.some(({ to }) => to === "answer")) refuse("thought.leads", "markers of which one ends the thought", leads);
  for (const [name, list] of [["never", never] as const, ["answers", answers] as const]) {
    if (!Array.isArray(list) || !list.every(isMarker)) refuse(`thought.${name}`, `an array of ${markers}`, list);
  }
}

const markers = `texts of 1 to ${longestMarker} characters`;
const isMarker = (each: unknown): boolean => typeof each === "string" && each !== "" && each.length <= longestMarker;

function checkMarkers(parameter: string, list: unknown): asserts list is ThoughtMarker[] {
  if (!Array.isArray(list)) refuse(parameter, "an array of markers", list);
  list.forEach((each: ThoughtMarker, index) => {
    const place = `${parameter}[${index}]`;
    checkObject(place, each);
    if (!isMarker(each.text)) refuse(`${place}.text`, `one of ${markers}`, each.text);
    if (each.to !== "thought" && each.to !== "answer") refuse(`${place}.to`, '"thought" or "answer"', each.to);
    const { bound = "" } = each;
    if (typeof bound !== "string" || bound === each.text || !each.text.startsWith(bound))
      refuse(`${place}.bound`, "a beginning of its text", bound);
  });
}

export function checkGenerateRequest(request: GenerateRequest): void {
  checkObject("request", request);
  checkHandle(request.handle);
  checkTokens("tokens", request.tokens);
  checkSampling(request.sampling);
  checkInteger("maxTokens", request.maxTokens, 0, largestCount);
  if (request.minTokens !== undefined) checkInteger("minTokens", request.minTokens, 0, largestCount);
  checkIds("stopTokens", request.stopTokens);
  if (request.stopSequences !== undefined) {
    if (!Array.isArray(request.stopSequences))
      refuse("stopSequences", "an array of Int32Arrays", request.stopSequences);
    request.stopSequences.forEach((sequence, index) => {
      checkTokens(`stopSequences[${index}]`, sequence);
    });
  }
  if (request.grammar !== undefined) {
    checkObject("grammar", request.grammar);
    const { kind, source } = request.grammar;
    if (!grammarKinds.includes(kind)) refuse("grammar.kind", `one of ${grammarKinds.join(", ")}`, kind);
    if (typeof source !== "string") refuse("grammar.source", "a string", source);
  }
  if (request.thought !== undefined) checkThought(request);
  if (request.written !== undefined) {
    if (request.grammar === undefined) refuse("written", "absent where there is no grammar", request.written);
    if (typeof request.written !== "string") refuse("written", "a string", request.written);
    if (request.written !== "" && request.thought !== undefined)
      refuse("written", "empty where a thought may come first", request.written);
  }
  checkInteger("alternatives", request.alternatives, 0, largestAlternatives);
}

export function checkScoreRequest(handle: unknown, tokens: unknown, from: unknown): void {
  checkHandle(handle);
  checkTokens("tokens", tokens);
  checkInteger("from", from, 0, (tokens as Int32Array).length - 1);
}
