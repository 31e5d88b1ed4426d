// `npm run halogen -- …`: the command line, built first when it must be. Says nothing of its own when everything is up to date.
import { join } from "node:path";
import { prepare } from "./build.mjs";
import { hand, say } from "./command.mjs";
import { ensureModel } from "./model.mjs";
import { node24, root } from "./place.mjs";
import { explain } from "./step.mjs";

const args = process.argv.slice(2);

try {
  await prepare();
  const namesModel = args.some((word) => /^(-m|--model)(=|$)/.test(word));
  if (args[0] === "run" && !namesModel) await ensureModel();
  process.exitCode = await hand(node24, [join(root, "dist", "main", "cli.cjs"), ...args], { cwd: process.cwd() });
} catch (error) {
  say(explain(error));
  process.exitCode = 1;
}
