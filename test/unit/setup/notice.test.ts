/** What is shipped comes with its licence, and none of it is under one that we could not ship. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { noticeOf, shippedPackages, thirdPartyNotice } from "../../../setup/notice.mjs";
import { root } from "../../../setup/place.mjs";

const permissive = new Set(["MIT", "ISC", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"]);

let made: string | null = null;
afterEach(() => {
  if (made !== null) rmSync(made, { recursive: true });
  made = null;
});

/** A package that carries no licence text; its path as the lock file would have it. */
function packageWith(fields: Record<string, unknown>): string {
  made = mkdtempSync(join(tmpdir(), "notice-"));
  mkdirSync(join(made, "odd"));
  writeFileSync(join(made, "odd", "package.json"), JSON.stringify({ name: "odd", version: "1.0.0", ...fields }));
  return relative(root, join(made, "odd"));
}

describe("the licences of others", () => {
  test("are there for every package that the app depends on, and for data in our sources", () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const shipped = shippedPackages();
    for (const name of Object.keys(dependencies)) expect(shipped).toContain(`node_modules/${name}`);
    const notice = thirdPartyNotice();
    for (const path of shipped) {
      const { name, version, licence, text } = noticeOf(path);
      expect([name, permissive.has(licence)]).toEqual([name, true]);
      expect([name, text.length > 200]).toEqual([name, true]);
      expect(notice).toContain(`${name} ${version} (${licence})\n`);
      expect(notice).toContain(text);
    }
    for (const [file, owner] of [["kernels/cpu/grid.h", "ggml authors"]] as const) {
      expect(
        readFileSync(join(root, file), "utf8")
          .slice(0, 600)
          .replace(/\s*\/\/\s*/g, " "),
      ).toContain(owner);
      expect(notice).toContain(`${file}) (MIT)`);
      expect(notice).toContain(owner);
    }
  });

  test("are the standard text with the author where a package carries none", () => {
    const { text } = noticeOf(packageWith({ license: "MIT", author: { name: "Ada" } }));
    expect(text).toMatch(/^Copyright \(c\) Ada\n\nPermission is hereby granted/);
  });

  test.each(["GPL-3.0", "../MIT", undefined])("stop the build where there is no text of them: %s", (license) => {
    const path = packageWith({ license });
    expect(() => noticeOf(path)).toThrow("No licence text for odd");
  });

  test("go beside the packaged program", () => {
    const config = readFileSync(join(root, "electron-builder.yml"), "utf8");
    expect(config).toMatch(/from: dist\/main\/third-party\.txt\s+to: /);
    expect(config).toMatch(/from: LICENSE\s+to: /);
  });
});
