import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Settings } from "../../../../app/contract/setting.ts";
import { writeJson } from "../../../../main/setting/json-file.ts";
import { defaultSettings, openSettings } from "../../../../main/setting/settings.ts";

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "halogen 设置 "));
  path = join(folder, "data é", "settings.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (onChange?: (settings: Settings) => void) =>
  openSettings({ path, clock: () => 77, ...(onChange === undefined ? {} : { onChange }) });

describe("settings", () => {
  it("start as the defaults, and write nothing until something changes", () => {
    expect(open().read()).toEqual(defaultSettings);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("keep a change over a restart and tell of it", () => {
    const heard: Settings[] = [];
    const changed = open((settings) => heard.push(settings)).update({ theme: "dark", threads: 4 });
    expect(changed).toEqual({ ...defaultSettings, theme: "dark", threads: 4 });
    expect(heard).toEqual([changed]);
    expect(open().read()).toEqual(changed);
    expect(readdirSync(join(folder, "data é"))).toEqual(["settings.json"]);
  });

  it.each([
    [{ theme: "pink" }, "theme"],
    [{ sidebarWidth: 10 }, "sidebarWidth"],
    [{ unknown: 1 }, ""],
  ])("refuse %j and stay as they were", (patch, name) => {
    const settings = open();
    expect(() => settings.update(patch as Partial<Settings>)).toThrow(
      expect.objectContaining({ code: "setting.invalid", detail: { name } }),
    );
    expect(settings.read()).toEqual(defaultSettings);
  });

  it("keep what only another version knows", () => {
    mkdirSync(join(folder, "data é"));
    writeFileSync(path, `\uFEFF${JSON.stringify({ theme: "light", fromTomorrow: { a: 1 } })}`);
    const settings = open();
    expect(settings.notices).toEqual([]);
    settings.update({ threads: 2 });
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({
      theme: "light",
      threads: 2,
      fromTomorrow: { a: 1 },
    });
  });

  it("give a bad value its default, with a notice, and keep the rest", () => {
    mkdirSync(join(folder, "data é"));
    writeFileSync(path, JSON.stringify({ theme: "light", threads: null, kvType: 3 }));
    const settings = open();
    expect(settings.read()).toEqual({ ...defaultSettings, theme: "light" });
    expect(settings.notices).toMatchObject([
      { level: "warning", message: expect.stringMatching(/threads.*kvType|kvType.*threads/) },
    ]);
  });

  it.each(["{ half", "", "[1]", "null"])("keep a damaged file (%j) aside and start with the defaults", (text) => {
    mkdirSync(join(folder, "data é"));
    writeFileSync(path, text);
    const settings = open();
    expect(settings.read()).toEqual(defaultSettings);
    expect(settings.notices).toMatchObject([{ level: "warning", hint: expect.stringContaining("damaged-77") }]);
    expect(readFileSync(`${path}.damaged-77`, "utf8")).toBe(text);
    settings.update({ theme: "dark" });
    expect(open().read().theme).toBe("dark");
  });

  it("say so when they cannot be saved, and stay as they were", () => {
    writeFileSync(join(folder, "data é"), "a file where the folder should be");
    expect(() => open()).toThrow(expect.objectContaining({ code: "store.unavailable" }));
    rmSync(join(folder, "data é"));
    const settings = open();
    writeFileSync(join(folder, "data é"), "in the way");
    expect(() => settings.update({ theme: "dark" })).toThrow(expect.objectContaining({ code: "store.unavailable" }));
    expect(settings.read().theme).toBe("system");
  });
});

describe("writeJson", () => {
  it("leaves the old file whole when the new one cannot be written", () => {
    const file = join(folder, "a.json");
    writeJson(file, { a: 1 });
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    expect(() => writeJson(file, circle)).toThrow();
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ a: 1 });
    expect(readdirSync(folder)).toEqual(["a.json"]);
  });
});
