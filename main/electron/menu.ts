/** The application menu. The page's own commands have keys that the page handles: their entries show the key and press it. */
import type { MenuItemConstructorOptions } from "electron";

export interface MenuOptions {
  platform: NodeJS.Platform;
  /** Sends a key with Ctrl (Command on a Mac) to the page. */
  press(key: string): void;
  openFolder(which: "data" | "models"): void;
  showAbout(): void;
  /** Developer tools are offered. */
  developer: boolean;
}

export function menuTemplate(options: MenuOptions): MenuItemConstructorOptions[] {
  const mac = options.platform === "darwin";
  const command = (label: string, key: string): MenuItemConstructorOptions => ({
    label,
    accelerator: `CmdOrCtrl+${key}`,
    // The page hears the key itself; registered here as well it would act twice.
    registerAccelerator: false,
    click: () => options.press(key),
  });
  const line: MenuItemConstructorOptions = { type: "separator" };
  return [
    ...(mac ? [{ role: "appMenu" } as const] : []),
    {
      label: "&File",
      submenu: [
        command("&New chat", "N"),
        command("&Search chats", "K"),
        line,
        { label: "Open &models folder", click: () => options.openFolder("models") },
        { label: "Open &data folder", click: () => options.openFolder("data") },
        line,
        command("S&ettings", ","),
        line,
        mac ? { role: "close" } : { role: "quit", accelerator: "Ctrl+Q" },
      ],
    },
    {
      label: "&Edit",
      submenu: [
        { role: "undo" },
        { role: "redo" },
        line,
        { role: "cut" },
        { role: "copy" },
        { role: "paste" },
        { role: "pasteAndMatchStyle" },
        { role: "selectAll" },
      ],
    },
    {
      label: "&View",
      submenu: [
        command("&Sidebar", "B"),
        line,
        { role: "resetZoom" },
        { role: "zoomIn" },
        { role: "zoomOut" },
        line,
        { role: "togglefullscreen" },
        { role: "reload" },
        ...(options.developer ? [{ role: "toggleDevTools" } as const] : []),
      ],
    },
    { label: "&Window", role: "windowMenu" },
    {
      label: "&Help",
      role: "help",
      submenu: [{ label: "&About Halogen", click: options.showAbout }],
    },
  ];
}
