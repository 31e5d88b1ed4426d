// The first model, when there is none: asked for once and remembered, so that later starts only look whether the file is there.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { say } from "./command.mjs";
import { provide } from "./machine.mjs";
import { node24, pathWithNode, root } from "./place.mjs";
import { setStamp, stampOf } from "./step.mjs";

const variables = ["HALOGEN_DATA", "HALOGEN_MODELS", "XDG_DATA_HOME", "HOME", "APPDATA", "LOCALAPPDATA"];

/** Returns whether a model is there: in `folder`, else where the app looks. Without one the app still opens and says how to get one. */
export async function ensureModel(folder) {
  const env = folder === undefined ? process.env : { ...process.env, HALOGEN_MODELS: folder };
  const stamp = folder === undefined ? "model" : "model-of-tests";
  const where = variables.map((name) => `${name}=${env[name] ?? ""}`).join("\n");
  const [known, path] = stampOf(stamp).split("\0");
  if (known === where && path !== undefined && existsSync(path)) return true;
  // Without pip one of the sources is missing; the others are tried all the same.
  await provide(["pip"]);
  const made = spawnSync(node24, ["setup/starter.mjs"], {
    cwd: root,
    env: pathWithNode(env),
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  if (made.status !== 0) {
    say("There is no model yet; Halogen opens without one.");
    return false;
  }
  setStamp(stamp, `${where}\0${made.stdout.trim()}`);
  return true;
}
