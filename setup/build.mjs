// `npm run build`: the engine's addon, the page and the bundles of main; each only when its sources have changed.
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { run, say } from "./command.mjs";
import { packages } from "./install.mjs";
import { demand } from "./machine.mjs";
import { bin, isProgram, node24, root } from "./place.mjs";
import { alone, explain, fingerprint, isDone, step } from "./step.mjs";

const nativeSource = /CMakeLists\.txt$|\.(cpp|h|cmake|json)$/;
const machine = [process.platform, process.arch];

const parts = [
  {
    name: "addon",
    key: () => fingerprint(["CMakeLists.txt", "kernels", "native"], { words: machine, wanted: nativeSource }),
    outputs: ["build/Release/halogen.node"],
    async make() {
      await demand(["compiler", "cmake", "generator"]);
      const args = ["build", "-B", "Release", "-T", "halogen", "-p", String(availableParallelism())];
      await run("Building the engine", node24, [join(root, "node_modules", "cmake-js", "bin", "cmake-js"), ...args], {
        hint: "The compiler's own message stands above (all of it: .cache/log/building-the-engine.log).\nA build folder of another machine or compiler is mended by deleting build/.",
      });
    },
  },
  {
    name: "page",
    key: () => fingerprint(["renderer", "app", "package-lock.json"]),
    outputs: ["dist/page/index.html"],
    make: () => run("Building the page", node24, [join(bin, "vite"), "build", "--config", "renderer/vite.config.ts"]),
  },
  {
    name: "bundle",
    key: () =>
      fingerprint(
        ["main", "app", "native", "setup/bundle.mjs", "setup/notice.mjs", "resources/licence", "package-lock.json"],
        { wanted: /\.(ts|mjs|json|sql|txt)$/ },
      ),
    outputs: [
      ...["cli", "electron", "preload", "engine-child", "grammar-worker", "probe-thread"].map(
        (name) => `dist/main/${name}.cjs`,
      ),
      "dist/main/third-party.txt",
    ],
    make: () => run("Bundling the app", node24, ["setup/bundle.mjs"]),
  },
];

/** The engine without Node, for benches; `prepare` must have run: it shares the addon's build folder. */
export async function buildBench() {
  await step({
    name: "bench",
    key: () => fingerprint(["CMakeLists.txt", "kernels", "native"], { words: machine, wanted: nativeSource }),
    outputs: ["build/halogen-bench"],
    make: () =>
      run("Building halogen-bench", "cmake", [
        "--build",
        "build",
        "--target",
        "halogen-bench",
        "--parallel",
        String(availableParallelism()),
      ]),
  });
}

/** Installs packages and builds what is not up to date. Returns whether anything had to be done. */
export async function prepare() {
  const steps = [packages, ...parts];
  // Most starts find everything done; only a start that has work to do takes the lock.
  if (steps.every(isDone)) return false;
  await alone(async () => {
    for (const one of steps) await step(one);
  });
  return true;
}

if (isProgram(import.meta.url)) {
  try {
    if (!(await prepare())) say("Everything is built.");
  } catch (error) {
    say(explain(error));
    process.exitCode = 1;
  }
}
