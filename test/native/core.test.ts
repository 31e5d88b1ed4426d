/** The engine's own C++ tests, built with the address and undefined-behaviour sanitizers, and the generator of the kernel table. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorCodes } from "../../app/error.ts";

const root = join(import.meta.dirname, "..", "..");
const build = join(root, "build", "native-test");
const scratch = mkdtempSync(join(tmpdir(), "halogen-core-"));
let outcomes = new Map<string, string>();

beforeAll(() => {
  const options = ["-DCMAKE_BUILD_TYPE=Release", "-DHALOGEN_SANITIZE=ON"];
  execFileSync("cmake", ["-S", root, "-B", build, ...options], { stdio: "pipe" });
  execFileSync("cmake", ["--build", build, "--target", "halogen-native-test", "--parallel", "2"], { stdio: "pipe" });
}, 1_200_000);

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe("engine core", () => {
  it("passes every C++ test under the sanitizers", () => {
    const program = join(build, "halogen-native-test");
    const names = execFileSync(program, ["--list"], { encoding: "utf8" }).trim().split("\n");
    const run = spawnSync(program, [], { encoding: "utf8", maxBuffer: 1 << 24 });
    const lines = run.stdout.split("\n").filter((line) => /^(ok|FAILED) /.test(line));
    outcomes = new Map(lines.map((line) => [line.split(/[ :]/)[1] ?? "", line]));
    expect(lines.filter((line) => line.startsWith("FAILED"))).toEqual([]);
    expect(run.stderr).toBe("");
    expect([...outcomes.keys()].sort()).toEqual(names.sort());
    expect(names.length).toBeGreaterThan(40);
    expect(run.status).toBe(0);
  }, 600_000);

  it("throws only codes that app/error.ts knows", () => {
    const header = readFileSync(join(root, "native", "engine", "error.h"), "utf8");
    const codes = [...header.matchAll(/constexpr const char\* \w+ = "([^"]+)"/g)].map((match) => match[1]);
    expect(codes.length).toBeGreaterThan(20);
    for (const code of codes) expect(errorCodes).toContain(code);
  });
});

describe("kernel table generator", () => {
  const manifest = JSON.parse(readFileSync(join(root, "kernels", "manifest.json"), "utf8")) as {
    kernels: Record<string, string>[];
  };
  const generate = (kernels: Record<string, string>[], processor = "x86_64") => {
    const file = join(scratch, "manifest.json");
    writeFileSync(file, JSON.stringify({ ...manifest, kernels }));
    const words = [
      `-DMANIFEST=${file}`,
      `-DOUT=${scratch}`,
      `-DPROCESSOR=${processor}`,
      "-P",
      join(root, "kernels", "generate.cmake"),
    ];
    const run = spawnSync("cmake", words, { encoding: "utf8" });
    return {
      status: run.status,
      error: run.stderr.replace(/\s+/g, " "),
      table: () => readFileSync(join(scratch, "kernel_table.cpp"), "utf8"),
      sources: () => readFileSync(join(scratch, "kernel_sources.cmake"), "utf8"),
    };
  };
  const row = { backend: "cpu", op: "add", quant: "", variant: "reference", file: "cpu/reference/a.cpp" };

  it("lists exactly the rows of a processor's variants", () => {
    const here = generate(manifest.kernels);
    expect(here.status).toBe(0);
    expect(here.table().match(/\{"cpu", /g)).toHaveLength(manifest.kernels.length);
    const elsewhere = generate(manifest.kernels, "aarch64");
    expect(elsewhere.status).toBe(0);
    const portable = manifest.kernels.filter((kernel) => kernel.variant === "reference");
    expect(elsewhere.table().match(/\{"cpu", /g)).toHaveLength(portable.length);
  });

  it("compiles a file for each variant that it serves, once", () => {
    const file = "cpu/vector/a.cpp";
    const shared = ["avx2", "avx512"].flatMap((variant) =>
      ["add", "rope"].map((op) => ({ ...row, op, variant, file })),
    );
    const lines = generate(shared).sources().split("\n");
    for (const variant of ["avx2", "avx512"]) {
      const line = `list(APPEND halogen_kernel_sources_${variant} "kernels/${file}")`;
      expect(lines.filter((each) => each === line)).toHaveLength(1);
    }
    expect(lines).toContain("set(halogen_kernel_flags_avx2 -mavx2;-mfma;-mf16c)");
    expect(lines).toContain("set(halogen_kernel_flags_reference )");
  });

  it.each([
    ["a row twice", [row, row], "cpu/add//reference is registered twice"],
    ["an unknown op", [{ ...row, op: "subtract" }], 'unknown op "subtract"'],
    ["an unknown variant", [{ ...row, variant: "mmx" }], 'unknown variant "mmx"'],
    ["a file of another variant", [{ ...row, variant: "avx2" }], "a file of reference and cannot serve avx2"],
    ["a row without a file", [{ backend: "cpu", op: "add", quant: "", variant: "reference" }], 'has no "file"'],
  ])("refuses %s", (_name, kernels, words) => {
    const run = generate(kernels);
    expect(run.status).not.toBe(0);
    expect(run.error).toContain(words);
  });
});
