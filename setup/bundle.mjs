// Bundles main/ to CommonJS in dist/main: Electron 22 carries Node 16, whose main process takes no ES modules.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { thirdPartyNotice } from "./notice.mjs";
import { root } from "./place.mjs";

const entries = {
  electron: "main/electron/main.ts",
  preload: "main/electron/preload.ts",
  "engine-child": "main/engine/child.ts",
  "grammar-worker": "native/grammar/worker.ts",
  "probe-thread": "main/chat/probe-thread.ts",
  cli: "main/cli.ts",
};

/** The server's packages need newer Node than Electron 22 has; only the command line loads them. */
const newer = new Set(["cli"]);

/** Loaded from node_modules at run time: they hold machine code, or are provided by the shell. */
const external = ["electron", "better-sqlite3", "*.node"];

export async function bundle({ minify = false } = {}) {
  const outdir = join(root, "dist", "main");
  await rm(outdir, { recursive: true, force: true });
  await mkdir(outdir, { recursive: true });
  for (const [name, entry] of Object.entries(entries)) {
    await build({
      absWorkingDir: root,
      entryPoints: [entry],
      outfile: join(outdir, `${name}.cjs`),
      bundle: true,
      platform: "node",
      format: "cjs",
      target: newer.has(name) ? "node20" : "node16",
      external,
      minify,
      sourcemap: "linked",
      legalComments: "none",
      logLevel: "warning",
      define: {
        halogenBundled: "true",
        "import.meta.dirname": "__dirname",
        "import.meta.url": "halogenModuleUrl",
      },
      // A sandboxed preload script has no `require` for anything but Electron, and no file of its own to name.
      banner:
        name === "preload"
          ? {}
          : { js: 'const halogenModuleUrl = require("node:url").pathToFileURL(__filename).href;' },
    });
  }
  await writeFile(join(outdir, "third-party.txt"), thirdPartyNotice());
}

if (process.argv[1] === import.meta.filename) await bundle({ minify: process.argv.includes("--minify") });
