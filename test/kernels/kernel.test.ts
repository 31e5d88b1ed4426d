/** Every row of kernels/manifest.json that this processor can run, against exact values (see the C++ beside this file). */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const build = join(root, "build", "kernel-test");
const program = join(build, "halogen-kernel-test");
const golden = join(root, "test", "fixtures", "block", "golden.bin.gz");

interface Row {
  op: string;
  quant: string;
  variant: string;
}
interface Outcome {
  row: string;
  cases?: number;
  worst?: number;
  at?: string;
  failures?: string[];
  skipped?: string;
}

const manifest = JSON.parse(readFileSync(join(root, "kernels", "manifest.json"), "utf8")) as {
  variants: Record<string, { processor: string }>;
  kernels: Row[];
};
const processor = process.arch === "x64" ? "x86_64" : process.arch;
const rows = manifest.kernels
  .filter((row) => ["any", processor].includes(manifest.variants[row.variant]?.processor ?? ""))
  .map((row) => `${row.op}/${row.quant}/${row.variant}`);

const outcomes = new Map<string, Outcome>();

beforeAll(() => {
  execFileSync("cmake", ["-S", root, "-B", build, "-DCMAKE_BUILD_TYPE=Release"], { stdio: "pipe" });
  execFileSync("cmake", ["--build", build, "--target", "halogen-kernel-test", "--parallel", "2"], { stdio: "pipe" });
  const folder = mkdtempSync(join(tmpdir(), "halogen-kernel-"));
  const unpacked = join(folder, "golden.bin");
  writeFileSync(unpacked, gunzipSync(readFileSync(golden)));
  const run = spawnSync(program, ["--golden", unpacked], { encoding: "utf8", maxBuffer: 1 << 24 });
  rmSync(folder, { recursive: true });
  expect(run.signal, run.stderr).toBeNull();
  for (const line of run.stdout.split("\n").filter((text) => text !== "")) {
    const outcome = JSON.parse(line) as Outcome;
    expect(outcomes.has(outcome.row), `${outcome.row} came twice`).toBe(false);
    outcomes.set(outcome.row, outcome);
  }
  const failed = [...outcomes.values()].some((outcome) => (outcome.failures ?? []).length > 0);
  expect(run.status, run.stderr).toBe(failed ? 1 : 0);
});

describe("kernels", () => {
  it("reports the manifest's rows and no others", () => {
    expect([...outcomes.keys()].sort()).toEqual([...rows].sort());
  });

  it.for(rows)("%s", (row, context) => {
    const outcome = outcomes.get(row);
    if (outcome?.skipped !== undefined) {
      expect(row.endsWith("/reference")).toBe(false);
      context.skip(outcome.skipped);
    }
    expect(outcome?.failures).toEqual([]);
    expect(outcome?.cases).toBeGreaterThan(10);
  });
});
