// Jazzer.js, libFuzzer for JavaScript, in a package of its own (test/fuzz). Its native part was linked on a system with glibc 2.38; on an older one three
// symbols are missing that it hardly needs, so a copy that asks for them weakly runs with a stand-in for them.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./command.mjs";
import { npmInstall } from "./install.mjs";
import { demand } from "./machine.mjs";
import { cache, node24, root } from "./place.mjs";
import { alone, fingerprint, StepError, step } from "./step.mjs";

const folder = join(root, "test", "fuzz");
const native = join(folder, "node_modules", "@jazzer.js", "fuzzer", "prebuilds", "fuzzer-linux-x64.node");
const standIn = join(cache, "fuzz", "stand-in.so");
export const jazzer = join(folder, "node_modules", "@jazzer.js", "core", "dist", "cli.js");

const newer = new Set(["GLIBC_2.38", "GLIBCXX_3.4.32"]);
const source = `#include <stdlib.h>
long __isoc23_strtol(const char* text, char** end, int base) { return strtol(text, end, base); }
unsigned long __isoc23_strtoul(const char* text, char** end, int base) { return strtoul(text, end, base); }
void _ZSt21ios_base_library_initv(void) {}
`;

/** Of the C library here, as "2.36". */
const library = () => process.report.getReport().header.glibcVersionRuntime ?? "0";
const enough = () => {
  const [major, minor] = library().split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 38);
};
const loads = (env) => spawnSync(node24, ["-e", `require(${JSON.stringify(native)})`], { env, encoding: "utf8" });

/** The environment in which it runs. Throws StepError when it cannot. */
export async function provideJazzer() {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new StepError("the fuzzing of TypeScript is set up for Linux on x64 only");
  }
  return alone(provideHere);
}

async function provideHere() {
  await step({
    name: "jazzer",
    key: () => fingerprint(["test/fuzz/package.json", "test/fuzz/package-lock.json"]),
    outputs: ["test/fuzz/node_modules/@jazzer.js/core/package.json"],
    make: () => npmInstall("Installing Jazzer.js", folder),
  });
  const env = enough() ? {} : { LD_PRELOAD: standIn };
  if (!enough() && (!existsSync(standIn) || loads({ ...process.env, ...env }).status !== 0)) {
    await demand(["compiler"]);
    const file = join(cache, "fuzz", "stand-in.c");
    writeFileSync(file, source);
    await run("Fitting Jazzer.js to this system", "cc", ["-shared", "-fPIC", "-O1", file, "-o", standIn]);
    rmSync(file);
    askWeakly();
  }
  const { status, stderr } = loads({ ...process.env, ...env });
  if (status !== 0)
    throw new StepError("Jazzer.js does not load here", { tail: stderr.split("\n").slice(0, 8).join("\n") });
  return env;
}

/** Marks the versions that an older C library lacks as weak in the ELF file's list of needed versions (.gnu.version_r). */
function askWeakly() {
  const file = readFileSync(native);
  const sections = Number(file.readBigUInt64LE(0x28));
  const [size, count] = [file.readUInt16LE(0x3a), file.readUInt16LE(0x3c)];
  const section = (index) => {
    const at = sections + index * size;
    return {
      type: file.readUInt32LE(at + 4),
      begin: Number(file.readBigUInt64LE(at + 24)),
      link: file.readUInt32LE(at + 40),
    };
  };
  const needs = Array.from({ length: count }, (_, index) => section(index)).find(({ type }) => type === 0x6ffffffe);
  if (needs === undefined) throw new StepError("Jazzer.js's native part lists no needed versions");
  const names = section(needs.link).begin;
  for (let library = needs.begin, next = 1; next !== 0; library += next) {
    let at = library + file.readUInt32LE(library + 8);
    for (let left = file.readUInt16LE(library + 2); left > 0; left -= 1) {
      const begin = names + file.readUInt32LE(at + 8);
      const name = file.toString("latin1", begin, file.indexOf(0, begin));
      if (newer.has(name)) file.writeUInt16LE(file.readUInt16LE(at + 4) | 2, at + 4);
      at += file.readUInt32LE(at + 12);
    }
    next = file.readUInt32LE(library + 12);
  }
  writeFileSync(native, file);
}
