// The npm packages, exactly as the lock file says, and Node 24 among them.
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { run } from "./command.mjs";
import { node24, root, windows } from "./place.mjs";
import { fingerprint, StepError } from "./step.mjs";

const npm = windows ? "npm.cmd" : "npm";
const network =
  "Check the network and that `npm ping` answers; behind a proxy set `npm config set proxy …`. Then start again.";

/**
 * Scripts of packages stay off: some would download programs. `--no-save` keeps every npm from 9 to 11 from rewriting the lock file, and unlike
 * `npm ci` it accepts an optional package that this registry does not have.
 */
export const packages = {
  name: "packages",
  key: () => fingerprint(["package.json", "package-lock.json"], { words: [process.platform, process.arch] }),
  outputs: ["node_modules/zod/package.json", relative(root, node24)],
  async make() {
    await npmInstall("Installing packages", root);
    await installNode();
  },
};

export async function npmInstall(title, folder, more = []) {
  const args = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=http", ...more];
  let fetched = 0;
  const noteOf = (line) => {
    if (!/\bhttp fetch\b/.test(line)) return null;
    fetched += 1;
    return `${fetched} requests answered`;
  };
  await run(title, npm, args, { cwd: folder, hint: network, noteOf });
}

/** The npm package `node` brings its program by its own install script, the one script that is run. */
async function installNode() {
  if (existsSync(node24)) return;
  const hint = `${network}\nThe package "node" fetches its program from the same registry as every other package.`;
  await run("Installing Node 24", npm, ["rebuild", "node"], { hint });
  if (!existsSync(node24)) {
    await run("Installing Node 24", process.execPath, ["installArchSpecificPackage.js"], {
      cwd: join(root, "node_modules", "node"),
      hint,
    });
  }
  if (!existsSync(node24)) throw new StepError("Node 24 is not there after its installation", { hint });
}
