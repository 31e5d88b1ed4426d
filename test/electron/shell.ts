/** Starts the built app in a real Electron for the tests: finds one, gives it a display, a data folder and an engine. */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { build } from "esbuild";
import { _electron, type ElectronApplication, errors, type Page } from "playwright-core";

export const root = resolve(import.meta.dirname, "../..");
const cache = join(root, ".cache");

export interface Electron {
  program: string;
  /** A build of better-sqlite3 that this Electron can load; undefined = the packaged one. */
  sqlite: string | undefined;
}

/** HALOGEN_TEST_ELECTRON and HALOGEN_TEST_SQLITE name them; else what set-up has put into .cache/electron, else the npm package's. */
export function findElectron(): Electron | null {
  const given = process.env.HALOGEN_TEST_ELECTRON;
  const sqlite = process.env.HALOGEN_TEST_SQLITE ?? present(join(cache, "electron", "better_sqlite3.node"));
  const old = given ?? present(join(cache, "electron", "fiftyone"));
  if (old !== undefined) return { program: old, sqlite };
  const current = present(join(root, "node_modules", "electron", "dist", "electron"));
  return current === undefined ? null : { program: current, sqlite: undefined };
}

function present(path: string): string | undefined {
  return existsSync(path) ? path : undefined;
}

export const built = [
  "dist/main/electron.cjs",
  "dist/main/preload.cjs",
  "dist/main/engine-child.cjs",
  "dist/main/grammar-worker.cjs",
  "dist/main/probe-thread.cjs",
  "dist/page/index.html",
];

/** Why the tests cannot run here, in words; null when they can. */
export function obstacle(): string | null {
  if (findElectron() === null) return "no Electron is at hand (HALOGEN_TEST_ELECTRON may name one)";
  const missing = built.filter((path) => !existsSync(join(root, path)));
  return missing.length === 0 ? null : `the app is not built (${missing.join(", ")}): run npm run build`;
}

/** An Electron that was taken out of another app has no default app: it gets ours, which runs the file that is named. */
function addDefaultApp(program: string): void {
  const resources = join(dirname(program), "resources");
  if (existsSync(join(resources, "default_app.asar")) || existsSync(join(resources, "app"))) return;
  cpSync(join(root, "test", "fixtures", "default-app"), join(resources, "app"), { recursive: true });
}

let display: Promise<{ name: string; server: ChildProcess | null }> | null = null;

/** The machine's display, or an invisible one of our own. */
function openDisplay(): Promise<{ name: string; server: ChildProcess | null }> {
  const own = process.env.DISPLAY;
  if (own !== undefined && own !== "") return Promise.resolve({ name: own, server: null });
  return new Promise((done, fail) => {
    const server = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "1400x900x24", "-nolisten", "tcp"], {
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    server.on("error", fail);
    server.stdio[3]?.once("data", (data: Buffer) => done({ name: `:${data.toString().trim()}`, server }));
  });
}

export async function closeDisplay(): Promise<void> {
  const { server } = (await display) ?? { server: null };
  server?.kill();
  display = null;
}

/** A folder for one test's data, with a model file in it that the scripted engine accepts. */
export function makeDataFolder(name = "halogen-electron-"): string {
  const folder = mkdtempSync(join(tmpdir(), name));
  mkdirSync(join(folder, "models"));
  writeFileSync(join(folder, "models", "scripted.gguf"), "GGUF");
  return folder;
}

export function useRealModel(folder: string, model: string): void {
  rmSync(join(folder, "models", "scripted.gguf"), { force: true });
  symlinkSync(model, join(folder, "models", basename(model)));
}

let scripted: Promise<string> | null = null;

/** The scripted engine as one CommonJS file: Electron 22 reads no TypeScript. */
export function scriptedEngine(): Promise<string> {
  scripted ??= (async () => {
    const outfile = join(mkdtempSync(join(tmpdir(), "halogen-scripted-")), "engine.cjs");
    await build({
      entryPoints: [join(root, "test/fixtures/scripted-engine-child.ts")],
      outfile,
      bundle: true,
      platform: "node",
      format: "cjs",
      target: "node16",
      logLevel: "warning",
    });
    return outfile;
  })();
  return scripted;
}

export interface StartOptions {
  data: string;
  engine: "scripted" | "native";
}

async function commandLine({ data, engine }: StartOptions) {
  const electron = findElectron();
  if (electron === null) throw new Error("no Electron is at hand");
  addDefaultApp(electron.program);
  display ??= openDisplay();
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("HALOGEN_"));
  return {
    program: electron.program,
    args: [
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-gpu",
      join(root, "dist", "main", "electron.cjs"),
    ],
    env: {
      ...(Object.fromEntries(inherited) as Record<string, string>),
      DISPLAY: (await display).name,
      HALOGEN_DATA: data,
      ...(electron.sqlite === undefined ? {} : { HALOGEN_SQLITE: electron.sqlite }),
      ...(engine === "scripted" ? { HALOGEN_ENGINE: await scriptedEngine() } : {}),
    },
  };
}

export interface Shell {
  app: ElectronApplication;
  page: Page;
  /** Errors of the page: exceptions, and refusals of its policy. */
  faults: string[];
}

/**
 * Playwright's first word to the old Node's debugger is now and then never answered on a busy machine, while the app runs on (seen in 3 of 40
 * starts; the main thread idles in its event loop). So it gets more tries; a start that fails by itself fails each time.
 */
async function launch(options: StartOptions): Promise<ElectronApplication> {
  const { program, args, env } = await commandLine(options);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await _electron.launch({ executablePath: program, args, env, timeout: 25_000 });
    } catch (error) {
      if (!(error instanceof errors.TimeoutError) || attempt === 3) throw error;
      process.stderr.write("Electron's debugger did not answer Playwright; once more\n");
    }
  }
}

/** Started and its window open. */
export async function startShell(options: StartOptions): Promise<Shell> {
  const app = await launch(options);
  const page = await app.firstWindow();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  await page.waitForLoadState("domcontentloaded");
  return { app, page, faults };
}

/** Started as a plain process, for what ends before it has a window. */
export async function startProcess(options: StartOptions, switches: string[] = []): Promise<ChildProcess> {
  const { program, args, env } = await commandLine(options);
  return spawn(program, [...switches, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
}

/** Settles when the process's standard error holds this; rejects when it ends without. */
export function waitForStderr(child: ChildProcess, words: RegExp): Promise<string> {
  return new Promise((done, fail) => {
    let text = "";
    child.stderr?.on("data", (data: Buffer) => {
      text += data.toString();
      if (words.test(text)) done(text);
    });
    child.on("exit", (code) => fail(new Error(`ended with ${code} and without ${words}: ${text}`)));
  });
}
