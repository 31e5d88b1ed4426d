// What the machine must bring: looked for, installed where that may be done (root and apt), else named with the exact command.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { found, run, say } from "./command.mjs";
import { windows } from "./place.mjs";
import { StepError } from "./step.mjs";

/** Per need: the commands one of which must answer, and its packages for each package manager. */
export const needs = {
  compiler: {
    label: "a C++20 compiler",
    commands: ["g++", "clang++"],
    apt: ["g++"],
    dnf: ["gcc-c++"],
    pacman: ["gcc"],
  },
  cmake: { label: "CMake", commands: ["cmake"], apt: ["cmake"], dnf: ["cmake"], pacman: ["cmake"] },
  generator: {
    label: "Ninja or Make",
    commands: ["ninja", "make"],
    apt: ["ninja-build"],
    dnf: ["ninja-build"],
    pacman: ["ninja"],
  },
  pip: {
    label: "Python's pip",
    probe: () => pip() !== null,
    apt: ["python3-pip"],
    dnf: ["python3-pip"],
    pacman: ["python-pip"],
  },
  unpacker: { label: "tar with gzip", commands: ["tar"], apt: ["tar", "gzip"], dnf: ["tar", "gzip"], pacman: ["tar"] },
  chromium: {
    label: "Chromium",
    probe: () => chromium() !== null,
    apt: ["chromium"],
    dnf: ["chromium"],
    pacman: ["chromium"],
  },
  display: {
    label: "Xvfb (a display without a screen)",
    probe: () => spawnSync("sh", ["-c", "command -v Xvfb && command -v xvfb-run && command -v xauth"]).status === 0,
    apt: ["xvfb", "xauth"],
    dnf: ["xorg-x11-server-Xvfb", "xorg-x11-xauth"],
    pacman: ["xorg-server-xvfb", "xorg-xauth"],
  },
  electronLibraries: {
    label: "the libraries that Electron needs",
    probe: () => hasLibraries(["libgtk-3.so.0", "libnss3.so", "libasound.so.2", "libgbm.so.1"]),
    apt: ["libgtk-3-0", "libnss3", "libasound2", "libgbm1"],
    dnf: ["gtk3", "nss", "alsa-lib", "mesa-libgbm"],
    pacman: ["gtk3", "nss", "alsa-lib", "mesa"],
  },
  fuzzer: {
    label: "clang 19 with libFuzzer",
    probe: () => hasFuzzer(),
    apt: ["clang-19", "libclang-rt-19-dev"],
    dnf: ["clang", "compiler-rt"],
    pacman: ["clang", "compiler-rt"],
  },
  clang: {
    label: "clang 19 (kernels for AMD and NVIDIA)",
    commands: ["clang-19", "clang++-19"],
    apt: ["clang-19", "lld-19"],
    dnf: ["clang", "lld"],
    pacman: ["clang", "lld"],
  },
};

/** How to call pip here: `[file, ...args]`; null when there is none. */
export function pip() {
  for (const python of windows ? ["python", "python3"] : ["python3", "python"]) {
    if (spawnSync(python, ["-m", "pip", "--version"], { timeout: 20_000 }).status === 0) return [python, "-m", "pip"];
  }
  return null;
}

export function chromium() {
  const named = process.env.HALOGEN_CHROMIUM;
  const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];
  return [...(named ? [named] : []), ...places].find((path) => existsSync(path)) ?? null;
}

function hasLibraries(names) {
  const listed = spawnSync("sh", ["-c", "PATH=$PATH:/sbin:/usr/sbin ldconfig -p"], { encoding: "utf8" });
  return listed.status === 0 && names.every((name) => listed.stdout.includes(name));
}

function hasFuzzer() {
  const words = ["-fsanitize=fuzzer", "-x", "c", "-", "-o", windows ? "NUL" : "/dev/null"];
  const input =
    "int LLVMFuzzerTestOneInput(const unsigned char* data, unsigned long size) { return data && size ? 0 : 0; }";
  return spawnSync("clang-19", words, { input, timeout: 20_000 }).status === 0;
}

function isThere(need) {
  return need.probe ? need.probe() : found(need.commands) !== null;
}

const has = (command) => spawnSync(command, ["--version"], { timeout: 20_000 }).status === 0;

function manager() {
  if (windows || process.platform === "darwin") return null;
  return ["apt-get", "dnf", "pacman"].find(has)?.replace("apt-get", "apt") ?? null;
}

function installCommand(which, packages) {
  if (which === "apt") return `sudo apt-get update && sudo apt-get install -y ${packages.join(" ")}`;
  if (which === "dnf") return `sudo dnf install -y ${packages.join(" ")}`;
  return `sudo pacman -S --needed ${packages.join(" ")}`;
}

function advice(missing) {
  const which = manager();
  const packagesFor = (name) => missing.flatMap((need) => need[name] ?? []);
  if (which !== null) return `Run: ${installCommand(which, packagesFor(which))}\nThen start again.`;
  const all = ["apt", "dnf", "pacman"].map((name) => `${name}: ${installCommand(name, packagesFor(name))}`);
  return `Install ${missing.map((need) => need.label).join(", ")}, for example\n${all.join("\n")}\nThen start again.`;
}

/** What of `names` is missing after trying to install it. Nothing is thrown: the caller decides whether it can go on without. */
export async function provide(names) {
  let missing = names.map((name) => needs[name]).filter((need) => !isThere(need));
  if (missing.length === 0) return [];
  const may = manager() === "apt" && process.getuid?.() === 0;
  if (may) {
    const packages = missing.flatMap((need) => need.apt);
    const env = { DEBIAN_FRONTEND: "noninteractive" };
    say(`Missing on this machine: ${missing.map((need) => need.label).join(", ")}. Installing: ${packages.join(" ")}`);
    try {
      await run("Reading the package lists", "apt-get", ["update"], { env, timeout: 300_000 });
      await run("Installing system packages", "apt-get", ["install", "-y", "--no-install-recommends", ...packages], {
        env,
        timeout: 1_200_000,
      });
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      say(`${error.message}\n${error.tail}`);
    }
    missing = missing.filter((need) => !isThere(need));
  }
  return missing.map((need) => ({ label: need.label, advice: advice([need]) }));
}

export async function demand(names) {
  const missing = await provide(names);
  if (missing.length === 0) return;
  const rows = names.map((name) => needs[name]).filter((need) => missing.some((one) => one.label === need.label));
  throw new StepError(`this machine lacks ${missing.map((one) => one.label).join(", ")}`, { hint: advice(rows) });
}
