// Bundles main/ to CommonJS in dist/main: Electron 22 carries Node 16, whose main process takes no ES modules.
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./place.mjs";

const entries = {
  electron: "main/electron/main.ts",
  preload: "main/electron/preload.ts",
  "engine-child": "main/engine/child.ts",
  cli: "main/cli.ts",
};

/** The server's packages need newer Node than Electron 22 has; only the command line loads them. */
const newer = new Set(["cli"]);

/** Loaded from node_modules at run time: they hold machine code, or are provided by the shell. */
const external = ["electron", "better-sqlite3", "*.node"];

/**
 * Calls itself an ES module and is none: in a place of its own, without its package.json, it is taken for the CommonJS that it is. Its one dynamic
 * import is of a module of Node's.
 */
const grammarLibrary = {
  name: "web-xgrammar",
  setup(builder) {
    builder.onResolve({ filter: /^@mlc-ai\/web-xgrammar$/ }, () => ({
      path: join(root, "node_modules", "@mlc-ai", "web-xgrammar", "lib", "index.js"),
      namespace: "web-xgrammar",
    }));
    builder.onLoad({ filter: /.*/, namespace: "web-xgrammar" }, async ({ path }) => ({
      contents: (await readFile(path, "utf8")).replace("await import('module')", "require('module')"),
      loader: "js",
    }));
  },
};

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
      plugins: [grammarLibrary],
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
}

if (process.argv[1] === import.meta.filename) await bundle({ minify: process.argv.includes("--minify") });
