/** Where this program's own files lie, whether it runs from its sources or from the bundles in dist/main. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Set by setup/bundle.mjs; absent when the sources run. */
declare const halogenBundled: boolean | undefined;

export interface Installation {
  /** Folder of package.json; inside the archive when packaged. */
  root: string;
  /** The built page. */
  pageFolder: string;
  /** What the engine process runs. */
  engineChild: string;
  /** What looks at chat templates. */
  probeThread: string;
  preload: string;
  /** resources/ of the package. */
  resourceFolder: string;
  bundled: boolean;
}

export function findInstallation(): Installation {
  const bundled = typeof halogenBundled !== "undefined";
  // dist/main/*.cjs or main/installation.ts.
  const root = bundled ? join(import.meta.dirname, "..", "..") : join(import.meta.dirname, "..");
  const built = join(root, "dist", "main");
  return {
    root,
    pageFolder: join(root, "dist", "page"),
    engineChild: bundled ? join(built, "engine-child.cjs") : join(root, "main", "engine", "child.ts"),
    probeThread: bundled ? join(built, "probe-thread.cjs") : join(root, "main", "chat", "probe-thread.ts"),
    preload: join(built, "preload.cjs"),
    resourceFolder: join(root, "resources"),
    bundled,
  };
}

export function readVersion({ root }: Installation): string {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  return version;
}

/** The content of catalogue.json; its meaning is checked by whoever uses it. */
export function readCatalogue(resourceFolder: string): unknown {
  return JSON.parse(readFileSync(join(resourceFolder, "catalogue.json"), "utf8"));
}
