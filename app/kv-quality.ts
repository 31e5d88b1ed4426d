/**
 * What each type of keys and values costs, measured on the starter model over one text against an F32 cache. Written by
 * `npm run bench -- kv --write`; test/oracle/kv-type.test.ts measures the same and holds these figures to it.
 */
export const kvQuality = {
  model: "SmolLM2-135M-Instruct",
  positions: 1753,
  /** share: of F16's memory. meanKl: nats per token. sameBest: share of positions with the same likeliest token. */
  types: {
    f16: { share: 1.0, meanKl: 1.1e-6, sameBest: 0.9994 },
    bf16: { share: 1.0, meanKl: 5.0e-5, sameBest: 0.9966 },
    q8_0: { share: 0.531, meanKl: 3.1e-4, sameBest: 0.9914 },
  },
} as const;
