/** Composition root of the desktop app: one instance, one window, the engine in a utility process. */
import { homedir } from "node:os";
import { join } from "node:path";
import {
  app,
  BrowserWindow,
  dialog,
  ipcMain,
  Menu,
  nativeTheme,
  powerMonitor,
  protocol,
  session,
  shell,
  utilityProcess,
} from "electron";
import { toWire } from "../../app/error.ts";
import { type Application, createApplication } from "../application.ts";
import { writeChildArgument } from "../engine/argument.ts";
import { findInstallation, readCatalogue, readVersion } from "../installation.ts";
import { type Environment, readEnvironment } from "../setting/environment.ts";
import { places } from "../setting/place.ts";
import { isPage } from "./address.ts";
import { createUtilitySpawn } from "./engine-process.ts";
import { guardContents, guardSession } from "./guard.ts";
import { type IpcServer, serveIpc } from "./ipc.ts";
import { menuTemplate } from "./menu.ts";
import { declareScheme, servePage } from "./protocol.ts";
import { focusWindow, openWindow } from "./window.ts";

const installation = findInstallation();
const version = readVersion(installation);
const clock = () => Date.now();
/** Closing takes less; a fault in it must not leave a process behind. */
const closeMilliseconds = 5000;

let application: Application | null = null;
let ipc: IpcServer | null = null;
let closed = false;

function report(error: unknown): void {
  process.stderr.write(`halogen: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
}

/** The app cannot start: say why in words, on the terminal too, and end. */
async function failToStart(error: unknown): Promise<void> {
  const { code, message, hint } = toWire(error);
  process.stderr.write(`halogen: ${message} [${code}]\n${hint === "" ? "" : `  ${hint}\n`}`);
  await app.whenReady();
  await dialog.showMessageBox({
    type: "error",
    title: "Halogen",
    message: "Halogen cannot start",
    detail: `${message}${hint === "" ? "" : `\n\n${hint}`}\n\n(${code})`,
    buttons: ["Quit"],
  });
  app.exit(1);
}

function showWindow(environment: Environment): void {
  const window = openWindow({
    preload: installation.preload,
    statePath: places(environment).windowState,
    clock,
    report,
  });
  ipc?.attach(window.webContents);
}

function buildMenu(environment: Environment): void {
  const { dataFolder, modelFolders } = environment;
  const template = menuTemplate({
    platform: process.platform,
    developer: !app.isPackaged,
    press(keyCode) {
      const contents = BrowserWindow.getAllWindows()[0]?.webContents;
      const modifiers: ("meta" | "control")[] = [process.platform === "darwin" ? "meta" : "control"];
      contents?.sendInputEvent({ type: "keyDown", keyCode, modifiers });
      contents?.sendInputEvent({ type: "keyUp", keyCode, modifiers });
    },
    openFolder(which) {
      shell.openPath(which === "data" ? dataFolder : modelFolders[0]).then((fault) => {
        if (fault !== "") report(new Error(fault));
      }, report);
    },
    showAbout() {
      const { electron, chrome, node } = process.versions;
      const detail = `Version ${version}\nElectron ${electron}, Chromium ${chrome}, Node ${node}`;
      dialog.showMessageBox({ type: "info", title: "Halogen", message: "Halogen", detail }).catch(report);
    },
  });
  Menu.setApplicationMenu(Menu.buildFromTemplate(template));
}

/** Before the process ends: streaming replies are marked and written, the engine ends. Never longer than the limit. */
async function closeAll(): Promise<void> {
  const limit = new Promise<void>((resolve) => {
    setTimeout(resolve, closeMilliseconds).unref();
  });
  ipc?.close();
  await Promise.race([application?.close() ?? Promise.resolve(), limit]).catch(report);
  closed = true;
  app.quit();
}

async function start(environment: Environment): Promise<void> {
  // Electron's lock for one instance lies here, so it is one instance for each data folder.
  app.setPath("userData", join(environment.dataFolder, "electron"));
  app.setPath("sessionData", join(environment.cacheFolder, "electron"));
  if (!app.requestSingleInstanceLock()) {
    app.exit(0);
    return;
  }
  app.on("second-instance", () => {
    const [window] = BrowserWindow.getAllWindows();
    if (window !== undefined) focusWindow(window);
    else if (application !== null) showWindow(environment);
  });
  app.on("window-all-closed", () => {
    if (process.platform !== "darwin") app.quit();
  });
  app.on("activate", () => {
    if (BrowserWindow.getAllWindows().length === 0 && application !== null) showWindow(environment);
  });
  let closing = false;
  app.on("before-quit", (event) => {
    if (closed) return;
    event.preventDefault();
    if (closing) return;
    closing = true;
    void closeAll();
  });

  await app.whenReady();
  application = createApplication({
    environment,
    variables: process.env,
    catalogue: readCatalogue(environment.resourceFolder ?? installation.resourceFolder),
    mode: "app",
    version,
    shell: "electron",
    clock,
    report,
    probeThread: installation.probeThread,
    spawnEngine: (argument) =>
      createUtilitySpawn({ utilityProcess, entry: installation.engineChild, argument: writeChildArgument(argument) }),
  });
  // The page follows the theme of the settings by itself; what the system draws (title bar, menus) has to be told.
  const followTheme = (theme: "system" | "light" | "dark") => {
    nativeTheme.themeSource = theme;
  };
  followTheme(application.settings.read().theme);
  application.service.subscribe((event) => {
    if (event.name === "setting.changed") followTheme(event.payload.theme);
  });
  powerMonitor.on("shutdown", () => app.quit());

  servePage(protocol, installation.pageFolder);
  guardSession(session.defaultSession);
  ipc = serveIpc({ ipc: ipcMain, service: application.service, isPage });
  buildMenu(environment);
  showWindow(environment);
}

declareScheme(protocol);
// As root, Chromium's sandbox cannot work; who starts it so has to say it (then this call would contradict).
if (!app.commandLine.hasSwitch("no-sandbox")) app.enableSandbox();
guardContents(app, shell, report);
// What a reply has so far is in the store; going on loses less than ending here would.
process.on("uncaughtException", report);
process.on("unhandledRejection", report);

// In its own function because a fault of the environment must reach the dialog, too.
async function run(): Promise<void> {
  await start(readEnvironment(process.env, process.platform, homedir()));
}

run()
  .catch(failToStart)
  .catch((error: unknown) => {
    report(error);
    app.exit(1);
  });
