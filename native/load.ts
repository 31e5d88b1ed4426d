import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { HalogenError } from "../app/error.ts";
import type { Addon } from "./addon.ts";

const fileName = "halogen.node";
/** How far above this file (or its bundle) the folder with the build is looked for. */
const levels = 4;

/** Bundled to CommonJS there is `__dirname` and no `import.meta`; as a module it is the other way round. */
function here(): string {
  return typeof __dirname === "string" ? __dirname : dirname(fileURLToPath(import.meta.url));
}

/** Where the addon may be, best first: what the caller says alone, else the packaged place, else the build tree. */
export function addonCandidates(addonPath: string | undefined, folder: string = here()): string[] {
  if (addonPath !== undefined) return [addonPath];
  const resources = (process as { resourcesPath?: string }).resourcesPath;
  const candidates = resources === undefined ? [] : [join(resources, "native", fileName)];
  let at = folder;
  for (let level = 0; level < levels; level++) {
    // Inside an asar archive nothing can be loaded as code; what must be is unpacked beside it.
    candidates.push(join(at.replace(/app\.asar(?=$|[\\/])/, "app.asar.unpacked"), "build", "Release", fileName));
    at = dirname(at);
  }
  return [...new Set(candidates)];
}

/** Loads the first candidate that is there. Rejects with engine.unavailable and what was tried. */
export function loadAddon(candidates: readonly string[]): Addon {
  const tried: string[] = [];
  for (const candidate of candidates) {
    if (!existsSync(candidate)) {
      tried.push(`${candidate}: not there`);
      continue;
    }
    try {
      const addon: unknown = createRequire(candidate)(candidate);
      if (typeof (addon as Partial<Addon>).Engine === "function") return addon as Addon;
      tried.push(`${candidate}: is no Halogen addon`);
    } catch (error) {
      tried.push(`${candidate}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new HalogenError("engine.unavailable", `The native engine could not be loaded; tried:\n${tried.join("\n")}`, {
    hint: "Build it with `npm run build`; a build for another system or processor must be made again on this one.",
    detail: { tried: tried.join("\n"), platform: process.platform, arch: process.arch, node: process.versions.node },
  });
}
