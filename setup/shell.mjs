// Which window the app opens in: Electron where its program is or can be had, else the system's browser.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run, say } from "./command.mjs";
import { bin, root, windows } from "./place.mjs";
import { fingerprint, StepError, setStamp, stampOf } from "./step.mjs";

const tryMilliseconds = 120_000;

export const hasDisplay = () =>
  windows || process.platform === "darwin" || Boolean(process.env.DISPLAY) || Boolean(process.env.WAYLAND_DISPLAY);

function electronProgram() {
  const named = process.env.HALOGEN_ELECTRON;
  if (named) return existsSync(named) ? named : null;
  const folder = join(root, "node_modules", "electron");
  const pathFile = join(folder, "path.txt");
  if (!existsSync(pathFile)) return null;
  const program = join(folder, "dist", readFileSync(pathFile, "utf8").trim());
  return existsSync(program) ? program : null;
}

/** The Electron program to open the app with; null with the reason in words when it has to be the browser. */
export async function findElectron() {
  if (!hasDisplay()) return { program: null, why: "there is no display" };
  if (process.getuid?.() === 0) return { program: null, why: "Electron's sandbox does not work for root" };
  const there = electronProgram();
  if (there !== null) return { program: there, why: "" };
  if (process.env.HALOGEN_ELECTRON) return { program: null, why: "HALOGEN_ELECTRON names no file" };
  const key = fingerprint(["node_modules/electron/package.json"]);
  const failed = { program: null, why: "Electron's program could not be downloaded" };
  // Asked once for each version: a network that blocks it would cost every start the whole time limit.
  if (stampOf("electron-tried") === key) return failed;
  try {
    await run("Downloading Electron", join(bin, windows ? "install-electron.cmd" : "install-electron"), [], {
      timeout: tryMilliseconds,
    });
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    say(`${error.message}. It is tried again when its version changes or .cache/stamp/electron-tried is deleted.`);
  }
  const program = electronProgram();
  if (program === null) {
    setStamp("electron-tried", key);
    return failed;
  }
  return { program, why: "" };
}

export function openBrowser(address) {
  const [file, ...args] = windows ? ["cmd", "/c", "start", ""] : [process.platform === "darwin" ? "open" : "xdg-open"];
  const opened = spawnSync(file, [...args, address], { stdio: "ignore", timeout: 10_000 });
  if (opened.status !== 0) say("The browser did not open by itself; open the address above.");
}
