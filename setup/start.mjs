// `npm start`: from a fresh clone to the open app. Every step is skipped when it is done, so that a second start only starts.
import { join } from "node:path";
import { prepare } from "./build.mjs";
import { launch, say } from "./command.mjs";
import { ensureModel } from "./model.mjs";
import { node24, root } from "./place.mjs";
import { findElectron, hasDisplay, openBrowser } from "./shell.mjs";
import { explain } from "./step.mjs";

const args = process.argv.slice(2);

/** Options of `halogen serve` (a port, a host) ask for the browser. */
async function open() {
  const electron = args.length > 0 ? { program: null, why: "" } : await findElectron();
  if (electron.program !== null) return launch(electron.program, [root]);
  if (electron.why !== "") say(`Opening in the browser: ${electron.why}.`);
  return launch(node24, [join(root, "dist", "main", "cli.cjs"), "serve", ...args], {
    onLine(line) {
      const address = /\bhttps?:\/\/\S+/.exec(line)?.[0];
      if (address !== undefined && hasDisplay()) openBrowser(address);
    },
  });
}

try {
  await prepare();
  await ensureModel();
  process.exitCode = await open();
} catch (error) {
  say(explain(error));
  process.exitCode = 1;
}
