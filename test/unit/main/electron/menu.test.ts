import type { MenuItemConstructorOptions } from "electron";
import { expect, test } from "vitest";
import { menuTemplate } from "../../../../main/electron/menu.ts";
import { commands } from "../../../../renderer/command/all.ts";

function items(template: MenuItemConstructorOptions[]): MenuItemConstructorOptions[] {
  return template.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? items(item.submenu) : [])]);
}

function make(platform: NodeJS.Platform, developer = false) {
  const pressed: string[] = [];
  const template = menuTemplate({
    platform,
    developer,
    press: (key) => pressed.push(key),
    openFolder: (which) => pressed.push(which),
    showAbout: () => pressed.push("about"),
  });
  return { template, all: items(template), pressed };
}

test("every key that a menu entry presses is a command of the page", () => {
  const { all, pressed } = make("linux");
  const keys = all.filter((item) => item.registerAccelerator === false);
  for (const item of keys) (item.click as () => void)();
  expect(pressed.length).toBeGreaterThan(3);
  const known = new Set(commands.flatMap((command) => command.keys));
  for (const key of pressed) expect(known).toContain(`Mod+${key}`);
  expect(keys.map((item) => item.accelerator)).toEqual(pressed.map((key) => `CmdOrCtrl+${key}`));
});

test("no two entries have one key, also not those that Electron's roles bring", () => {
  const { all } = make("linux", true);
  // Electron's own keys on Linux for the roles used here.
  const ofRole: Record<string, string> = {
    undo: "Z",
    cut: "X",
    copy: "C",
    paste: "V",
    selectAll: "A",
    reload: "R",
    resetZoom: "0",
    zoomOut: "-",
  };
  const keys = all.flatMap(
    (item) =>
      item.accelerator ?? (item.role !== undefined && item.role in ofRole ? `CmdOrCtrl+${ofRole[item.role]}` : []),
  );
  expect(new Set(keys).size).toBe(keys.length);
});

test("a Mac has its application menu and closes the window where others quit", () => {
  const roles = (platform: NodeJS.Platform) => make(platform).all.map((item) => item.role);
  expect(roles("darwin")).toContain("appMenu");
  expect(roles("darwin")).not.toContain("quit");
  expect(roles("linux")).toContain("quit");
});

test("developer tools are offered to developers only", () => {
  expect(make("linux").all.map((item) => item.role)).not.toContain("toggleDevTools");
  expect(make("linux", true).all.map((item) => item.role)).toContain("toggleDevTools");
});
