/**
 * What each type of keys and values costs on the starter model, against F32. Started by `npm run bench -- kv`; with --write the figures that the
 * settings show (app/kv-quality.ts) are written anew.
 */
import { writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createNativeEngine } from "../../native/index.ts";
import { comparedTypes, measureKv, textTokens } from "../fixtures/kv-distance.ts";
import { starterModel } from "../fixtures/starter-model.ts";

const { values } = parseArgs({
  options: { write: { type: "boolean" }, model: { type: "string" }, threads: { type: "string" } },
});
const path = values.model === undefined ? starterModel() : resolve(process.env.INIT_CWD ?? ".", values.model);
const threads = Number(values.threads ?? 0);
const engine = createNativeEngine({ threads });
const tokens = await textTokens(engine, path);
const found = await measureKv(engine, path, tokens, threads);
await engine.close();

const line = (type: (typeof comparedTypes)[number]): string => {
  const { share, meanKl, sameBest } = found[type];
  return `    ${type}: { share: ${share.toFixed(3)}, meanKl: ${meanKl.toExponential(1)}, sameBest: ${sameBest.toFixed(4)} },`;
};
const lines = comparedTypes.map(line);
process.stdout.write(`${basename(path)}, ${tokens.length} positions, against F32\n${lines.join("\n")}\n`);

if (values.write === true) {
  const source = `/**
 * What each type of keys and values costs, measured on the starter model over one text against an F32 cache. Written by
 * \`npm run bench -- kv --write\`; test/oracle/kv-type.test.ts measures the same and holds these figures to it.
 */
export const kvQuality = {
  model: ${JSON.stringify(basename(path).split(".")[0])},
  positions: ${tokens.length},
  /** share: of F16's memory. meanKl: nats per token. sameBest: share of positions with the same likeliest token. */
  types: {
${lines.join("\n")}
  },
} as const;
`;
  writeFileSync(new URL("../../app/kv-quality.ts", import.meta.url), source);
}
