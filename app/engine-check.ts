/** The one validation layer in front of every engine: messages name parameter, expectation and value. */
import type { BackendName, GenerateRequest, KvType, LoadOptions, Sampling } from "./engine.ts";
import { HalogenError } from "./error.ts";

const backends: readonly (BackendName | "auto")[] = ["auto", "cpu", "hip", "cuda", "vulkan", "npu", "remote"];
const kvTypes: readonly KvType[] = ["f32", "f16"];

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

function checkSampling(sampling: Sampling): void {
  checkObject("sampling", sampling);
  const { temperature, topK, topP, minP, seed } = sampling;
  if (typeof temperature !== "number" || !(temperature >= 0 && temperature <= 100)) {
    refuse("sampling.temperature", "a number from 0 to 100", temperature);
  }
  checkInteger("sampling.topK", topK, 0, 2 ** 31 - 1);
  if (typeof topP !== "number" || !(topP > 0 && topP <= 1))
    refuse("sampling.topP", "a number above 0, at most 1", topP);
  if (typeof minP !== "number" || !(minP >= 0 && minP <= 1)) refuse("sampling.minP", "a number from 0 to 1", minP);
  if (seed !== null) checkInteger("sampling.seed", seed, 0, largestCount);
}

export function checkGenerateRequest(request: GenerateRequest): void {
  checkObject("request", request);
  checkHandle(request.handle);
  checkTokens("tokens", request.tokens);
  checkSampling(request.sampling);
  checkInteger("maxTokens", request.maxTokens, 0, largestCount);
  if (!Array.isArray(request.stopTokens)) refuse("stopTokens", "an array of token ids", request.stopTokens);
  request.stopTokens.forEach((id, index) => {
    checkInteger(`stopTokens[${index}]`, id, 0, 2 ** 31 - 1);
  });
  checkInteger("alternatives", request.alternatives, 0, largestAlternatives);
}

export function checkScoreRequest(handle: unknown, tokens: unknown, from: unknown): void {
  checkHandle(handle);
  checkTokens("tokens", tokens);
  checkInteger("from", from, 0, (tokens as Int32Array).length - 1);
}
