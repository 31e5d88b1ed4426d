/**
 * Writes the table of formats into docs/models.md, between its marks: measured now, with each of the processor's kernel variants.
 *   node test/oracle/make-format-table.ts
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNativeEngine } from "../../native/index.ts";
import { goldenFormats, measureFormat } from "./format-measure.ts";

const variants = ["reference", "avx2", "avx512"] as const;
const marks = ["<!-- made by test/oracle/make-format-table.ts -->\n", "<!-- end -->\n"] as const;
const folder = mkdtempSync(join(tmpdir(), "halogen-table-"));
const cells = new Map<string, string[]>(goldenFormats.map((format) => [format, []]));
for (const cpuVariant of variants) {
  const engine = createNativeEngine({ cpuVariant, threads: 2 });
  for (const format of goldenFormats) {
    const { kl, same, tokens } = await measureFormat(engine, format, folder);
    cells.get(format)?.push(kl.toExponential(1), `${same} of ${tokens}`);
  }
  await engine.close();
}
rmSync(folder, { recursive: true });
const table = [
  "| format | reference, KL | likeliest the same | AVX2, KL | likeliest the same | AVX-512, KL | likeliest the same |",
  "|---|---|---|---|---|---|---|",
  ...[...cells].map(([format, each]) => `| ${[format, ...each].join(" | ")} |`),
  "",
].join("\n");
const path = join(import.meta.dirname, "../../docs/models.md");
const text = readFileSync(path, "utf8");
const [from, to] = [text.indexOf(marks[0]) + marks[0].length, text.indexOf(marks[1])];
if (from < marks[0].length || to < from) throw new Error(`${path} has lost its marks`);
writeFileSync(path, text.slice(0, from) + table + text.slice(to));
