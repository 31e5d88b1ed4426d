// `npm test`: sets up whatever the tests need, runs every tier that this machine can run, and says what it skipped and why.
//   --only <tier>   one tier;   further words go to vitest (a part of a file name, -t "a test's name")
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { prepare } from "./build.mjs";
import { provideTypes, runChecks } from "./check.mjs";
import { hand, say } from "./command.mjs";
import { provideGemma } from "./gemma.mjs";
import { provide } from "./machine.mjs";
import { ensureModel } from "./model.mjs";
import { providePeer } from "./peer.mjs";
import { cache, node24, root } from "./place.mjs";
import { provideElectron } from "./real-electron.mjs";
import { explain, StepError } from "./step.mjs";
import { tiers } from "./tier.mjs";
import { provideVectors, vectorFolder } from "./vector.mjs";

/** Why a tier cannot run here; null when it can. What is missing is installed first where that may be done. */
async function obstacle(tier, env) {
  const missing = await provide(tier.needs);
  if (missing.length > 0) return missing.map(({ label, advice }) => `${label} is missing. ${advice}`).join("\n");
  if (tier.model === true && !existsSync(env.HALOGEN_TEST_MODEL)) {
    return `the starter model could not be had; put it at ${env.HALOGEN_TEST_MODEL}`;
  }
  try {
    if (tier.peer === true) await providePeer();
    if (tier.electron === true) await provideElectron();
    return null;
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    return explain(error);
  }
}

/** Goldens of others that some tests use and skip without: had where they can be. Returns what to say when they cannot. */
async function vectors(env) {
  if (process.env.HALOGEN_LLAMA_CPP_PACKAGE) return [];
  try {
    await provideVectors();
    env.HALOGEN_LLAMA_CPP_PACKAGE = vectorFolder;
    return [];
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    return [`llama.cpp's test vectors could not be had, tests that use them skip: ${explain(error)}`];
  }
}

/** A real file that some tests use and skip without. Returns what to say when it cannot be had. */
async function realFile() {
  try {
    await provideGemma();
    return [];
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    return [`Gemma 3 270M could not be had, tests that use it skip: ${explain(error)}`];
  }
}

/** Runs one tier and counts from vitest's own report. A report that is not there is a failure: the tests did not get to run. */
async function runTier(tier, words, env) {
  const report = join(cache, "report", `${tier.name}.json`);
  rmSync(report, { force: true });
  const args = ["run", "--project", tier.name, "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const begun = Date.now();
  const code = await hand(node24, [join(root, "node_modules", "vitest", "vitest.mjs"), ...args, ...words], { env });
  const seconds = (Date.now() - begun) / 1000;
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: 0, seconds, notes: ["it ended without a report"] };
  const { testResults } = JSON.parse(readFileSync(report, "utf8"));
  const count = { passed: 0, failed: 0, skipped: 0, seconds, notes: [] };
  const reasons = new Map();
  for (const file of testResults) {
    for (const test of file.assertionResults) {
      if (test.status === "passed") count.passed += 1;
      else if (test.status === "failed") count.failed += 1;
      else {
        count.skipped += 1;
        const name = file.name.replace(`${root}/`, "");
        reasons.set(name, (reasons.get(name) ?? 0) + 1);
      }
    }
    // A file that cannot even be loaded has no tests to count.
    if (file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed")) count.failed += 1;
  }
  if (code !== 0 && count.failed === 0) {
    count.failed = 1;
    count.notes.push(`vitest ended with code ${code}: see its output above`);
  }
  for (const [name, number] of reasons) count.notes.push(`${name}: ${number} skipped by the test itself`);
  return count;
}

async function main() {
  const args = process.argv.slice(2);
  const at = args.indexOf("--only");
  const only = at < 0 ? null : args[at + 1];
  const words = at < 0 ? args : [...args.slice(0, at), ...args.slice(at + 2)];
  const chosen = tiers.filter((tier) => only === null || tier.name === only);
  if (chosen.length === 0 && only !== "check") {
    const names = ["check", ...tiers.map(({ name }) => name)];
    throw new StepError(`there is no tier "${only}"`, { hint: `One of ${names.join(", ")}.` });
  }

  mkdirSync(join(cache, "report"), { recursive: true });
  // Everything that any tier wants from the system at once, so that its package lists are read once.
  await provide([...new Set(["compiler", "cmake", "generator", "pip", ...chosen.flatMap((tier) => tier.needs)])]);
  await prepare();
  const folder = join(cache, "model");
  const env = {
    HALOGEN_TEST_MODEL: process.env.HALOGEN_TEST_MODEL ?? join(folder, "SmolLM2-135M-Instruct.Q4_1.gguf"),
  };
  if (chosen.some((tier) => tier.model === true)) await ensureModel(folder);

  const lines = chosen.some((tier) => tier.vectors === true) ? await vectors(env) : [];
  if (chosen.some((tier) => tier.real === true)) lines.push(...(await realFile()));
  const total = { passed: 0, failed: 0, skipped: 0 };
  if (only === null || only === "check") {
    say("\n== check");
    await provideTypes();
    const count = runChecks({ fix: false, architecture: false });
    total.passed += count.passed;
    total.failed += count.failed;
    lines.push(`check: ${count.passed} passed, ${count.failed} failed (types of each layer, lint and format)`);
  }
  for (const tier of chosen) {
    const why = await obstacle(tier, env);
    if (why !== null) {
      total.skipped += 1;
      lines.push(`${tier.name}: skipped whole, ${why}`);
      continue;
    }
    say(`\n== ${tier.name}`);
    const count = await runTier(tier, words, env);
    for (const key of Object.keys(total)) total[key] += count[key];
    lines.push(
      `${tier.name}: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped in ${count.seconds.toFixed(0)} s`,
      ...count.notes.map((note) => `  ${note}`),
    );
  }
  console.log(`\n${lines.join("\n")}\n`);
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
}

try {
  await main();
} catch (error) {
  say(explain(error));
  console.log("0 passed, 1 failed");
  process.exitCode = 1;
}
