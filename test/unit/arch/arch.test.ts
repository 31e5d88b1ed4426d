import { basename, dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { forbidden, nativeRows, type Row, scriptRows } from "./allow.ts";
import { isNative, isScript, nativeIncludes, type Source, scriptImports, sources, withoutComments } from "./source.ts";

const cap = 500;
const all = sources();
const scripts = all.filter(isScript);
const natives = all.filter(isNative);

const within = (path: string, part: string): boolean => path === part || path.startsWith(`${part}/`);

function rowOf(path: string, rows: readonly Row[]): Row | undefined {
  return rows.filter((row) => within(path, row.part)).sort((a, b) => b.part.length - a.part.length)[0];
}

/** One line per import that no row allows. */
function refused(
  files: readonly Source[],
  rows: readonly Row[],
  importsOf: (source: Source) => { file?: string; package?: string }[],
): string[] {
  return files.flatMap((source) => {
    const row = rowOf(source.path, rows);
    if (row === undefined) return [`${source.path}: no row of the allow table covers it`];
    return importsOf(source).flatMap((found) => {
      if (found.package !== undefined) {
        return row.packages.includes(found.package) ? [] : [`${source.path}: package ${found.package}`];
      }
      const file = found.file ?? "";
      const allowed = rowOf(file, rows) === row || row.may.some((part) => within(file, part));
      return allowed ? [] : [`${source.path}: ${file}`];
    });
  });
}

describe("imports", () => {
  test("there are sources to look at", () => {
    expect(scripts.length).toBeGreaterThan(10);
    expect(natives.length).toBeGreaterThan(1);
  });

  test("scripts import only what the allow table lists", () => {
    expect(refused(scripts, scriptRows, scriptImports)).toEqual([]);
  });

  test("C++ includes only what the allow table lists", () => {
    expect(refused(natives, nativeRows, nativeIncludes)).toEqual([]);
  });

  test("every row covers something that exists", () => {
    const paths = all.map((source) => source.path);
    const dead = [...scriptRows, ...nativeRows].filter((row) => !paths.some((path) => within(path, row.part)));
    expect(dead.map((row) => row.part)).toEqual([]);
  });

  test("an import that is not listed is found", () => {
    const text = [
      '// import { no } from "comment";',
      'import { a, type B } from "electron";',
      'import "node:fs";',
      "import {",
      "  c,",
      '} from "../main/store/database.ts";',
      'export { d } from "./d.ts";',
      'const e = await import("fastify");',
      "const f = 'not // a comment';",
      'const g = require("path");',
    ].join("\n");
    const source: Source = { path: "app/x.ts", text, lines: 10 };
    const rows: Row[] = [{ part: "app", may: [], packages: ["node"] }];
    expect(scriptImports(source)).toHaveLength(6);
    expect(refused([source], rows, scriptImports)).toEqual([
      "app/x.ts: package electron",
      "app/x.ts: main/store/database.ts",
      "app/x.ts: package fastify",
    ]);
    const cpp: Source = {
      path: "kernels/k.cpp",
      text: '#include <vector>\n#include <node_api.h>\n#include "native/x.h"\n',
      lines: 3,
    };
    expect(refused([cpp], [{ part: "kernels", may: [], packages: ["std"] }], nativeIncludes)).toEqual([
      "kernels/k.cpp: package node_api.h",
      "kernels/k.cpp: native/x.h",
    ]);
  });

  test("layers keep off names of a platform", () => {
    const hits = forbidden.flatMap((rule) =>
      scripts
        .filter((source) => within(source.path, rule.part) && !rule.except.some((part) => within(source.path, part)))
        .filter((source) => rule.pattern.test(withoutComments(source.text)))
        .map((source) => `${source.path}: ${rule.why}`),
    );
    expect(hits).toEqual([]);
  });
});

describe("files", () => {
  test(`no source file is longer than ${cap} lines`, () => {
    expect(all.filter((source) => source.lines > cap).map((source) => `${source.path}: ${source.lines}`)).toEqual([]);
  });

  test("names are kebab-case for scripts and snake_case for C++", () => {
    const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|config|d))?\.(ts|tsx|mjs|cjs|js|css|html|sql)$/;
    const snake = /^[a-z0-9]+(_[a-z0-9]+)*\.(cpp|h|cc|hpp|hip|cu|comp|glsl|cmake|py)$/;
    const wrong = all.filter((source) => {
      const name = basename(source.path);
      return name !== "CMakeLists.txt" && !kebab.test(name) && !snake.test(name);
    });
    expect(wrong.map((source) => source.path)).toEqual([]);
  });

  test("no folder is called utils, helpers, misc or common", () => {
    const vague = /(^|\/)(utils?|helpers?|misc|common|shared|lib)(\/|$)/;
    expect(all.map((source) => dirname(source.path)).filter((folder) => vague.test(folder))).toEqual([]);
  });

  test("only configuration files export by default", () => {
    const wrong = scripts
      .filter((source) => !/\.config\.ts$/.test(source.path))
      .filter((source) => /^\s*export\s+default\b/m.test(withoutComments(source.text)));
    expect(wrong.map((source) => source.path)).toEqual([]);
  });

  test("nothing names a package registry's host or this machine's folders", () => {
    const hosts = new RegExp(
      ["registry\\.npm" + "js", "files\\.python" + "hosted", "pypi\\." + "org", "(?<![\\w.])/wo" + "rk/"].join("|"),
    );
    expect(all.filter((source) => hosts.test(source.text)).map((source) => source.path)).toEqual([]);
  });
});
