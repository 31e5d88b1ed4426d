/** Files below the folders of the environment, by what they are for. */
import { join } from "node:path";
import type { Environment } from "./environment.ts";

export interface Places {
  database: string;
  settings: string;
  windowState: string;
  inspections: string;
  partials: string;
  downloads: string;
  models: string;
}

export function places(environment: Environment): Places {
  const { dataFolder, cacheFolder, modelFolders } = environment;
  return {
    database: join(dataFolder, "halogen.db"),
    settings: join(dataFolder, "settings.json"),
    windowState: join(dataFolder, "window.json"),
    inspections: join(cacheFolder, "inspection.json"),
    // Beside their goal, so that the last step is a rename and never a copy of gigabytes across disks.
    partials: join(modelFolders[0], ".partial"),
    downloads: join(dataFolder, "downloads.json"),
    models: modelFolders[0],
  };
}
