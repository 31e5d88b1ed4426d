/** The one window: sandboxed, at the place where it was, shown when there is something to see. */
import { BrowserWindow, nativeTheme, screen } from "electron";
import { readJson, writeJson } from "../setting/json-file.ts";
import { pageAddress } from "./address.ts";
import { restoreWindow, type StoredWindow, smallest } from "./window-state.ts";

export interface WindowOptions {
  preload: string;
  statePath: string;
  clock: () => number;
  /** What went wrong without keeping the window from opening. */
  report(error: unknown): void;
}

/** A page that never paints must not leave a running app without a window. */
const showAfterMilliseconds = 4000;
const saveAfterMilliseconds = 400;
const mostReloads = 3;

export function openWindow(options: WindowOptions): BrowserWindow {
  const { workArea } = screen.getPrimaryDisplay();
  const areas = [workArea, ...screen.getAllDisplays().map((display) => display.workArea)];
  const state = restoreWindow(readState(options), areas);
  const window = new BrowserWindow({
    ...state.bounds,
    minWidth: smallest.width,
    minHeight: smallest.height,
    show: false,
    title: "Halogen",
    // --bg of renderer/style/token.css, so that nothing flashes before the page is drawn.
    backgroundColor: nativeTheme.shouldUseDarkColors ? "#161513" : "#fbfaf8",
    webPreferences: {
      preload: options.preload,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      webviewTag: false,
      // Its dictionaries would be fetched from the network.
      spellcheck: false,
    },
  });
  if (state.maximized) window.maximize();
  showWhenReady(window);
  rememberState(window, options);
  recoverPage(window, options.report);
  window.loadURL(pageAddress).catch(options.report);
  return window;
}

export function focusWindow(window: BrowserWindow): void {
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}

function showWhenReady(window: BrowserWindow): void {
  const show = () => {
    clearTimeout(late);
    if (!window.isDestroyed() && !window.isVisible()) window.show();
  };
  const late = setTimeout(show, showAfterMilliseconds);
  window.once("ready-to-show", show);
  window.webContents.once("did-fail-load", show);
  window.once("closed", () => clearTimeout(late));
}

function readState({ statePath, clock, report }: WindowOptions): unknown {
  try {
    const reading = readJson(statePath, clock());
    if (reading.state === "damaged") report(new Error(`window state: ${reading.reason}; kept as ${reading.keptAs}`));
    return reading.state === "read" ? reading.value : null;
  } catch (error) {
    report(error);
    return null;
  }
}

function rememberState(window: BrowserWindow, { statePath, report }: WindowOptions): void {
  let timer: NodeJS.Timeout | undefined;
  const save = () => {
    clearTimeout(timer);
    if (window.isDestroyed()) return;
    // The bounds of the window when it is not maximised, so that un-maximising it after a restart works.
    const value: StoredWindow = { ...window.getNormalBounds(), maximized: window.isMaximized() };
    try {
      writeJson(statePath, value);
    } catch (error) {
      report(error);
    }
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(save, saveAfterMilliseconds);
  };
  window.on("resize", later);
  window.on("move", later);
  window.on("maximize", later);
  window.on("unmaximize", later);
  window.on("close", save);
  window.on("closed", () => clearTimeout(timer));
}

/** A page that crashed is loaded again; everything it showed is in main. Not for ever: then its blank window is the sign. */
function recoverPage(window: BrowserWindow, report: (error: unknown) => void): void {
  let reloads = 0;
  window.webContents.on("render-process-gone", (_event, { reason, exitCode }) => {
    if (reason === "clean-exit") return;
    report(new Error(`the page's process ended: ${reason}, exit code ${exitCode}`));
    reloads += 1;
    if (reloads <= mostReloads && !window.isDestroyed()) window.webContents.reload();
  });
}
