// Sees to it that there is a model, with progress; run on Node 24, since it uses the app's own code. Prints the model's path.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { HalogenError } from "../app/error.ts";
import { createCatalogue } from "../main/model/catalogue.ts";
import { ensureStarter } from "../main/model/starter.ts";
import { readEnvironment } from "../main/setting/environment.ts";
import { places } from "../main/setting/place.ts";
import { progress, say } from "./command.mjs";
import { root } from "./place.mjs";

const environment = readEnvironment(process.env, process.platform, homedir());
const [folder] = environment.modelFolders;
const catalogue = createCatalogue(JSON.parse(readFileSync(join(root, "resources", "catalogue.json"), "utf8")), folder);
const abort = new AbortController();
process.on("SIGINT", () => abort.abort());
process.on("SIGTERM", () => abort.abort());

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
let bar;
const begun = Date.now();

try {
  const { path, state } = await ensureStarter({
    catalogue,
    modelFolders: environment.modelFolders,
    folder: places(environment).partials,
    tools: {
      spawn,
      platform: process.platform,
      variables: environment.variables,
      python: environment.python,
      proxy: environment.proxy,
    },
    signal: abort.signal,
    onProgress({ state: phase, source, received, total }) {
      bar ??= progress("Fetching a first model (98 MB)");
      const rate = received / 1e6 / Math.max(0.1, (Date.now() - begun) / 1000);
      bar.note(`${phase} from the ${source}: ${megabytes(received)} of ${megabytes(total)}, ${rate.toFixed(1)} MB/s`);
    },
  });
  bar?.end(state === "installed" ? "done" : "there already");
  process.stdout.write(`${path}\n`);
} catch (error) {
  bar?.end("failed");
  if (!(error instanceof HalogenError)) throw error;
  say(`${error.message}\n${error.hint}`);
  process.exitCode = 1;
}
