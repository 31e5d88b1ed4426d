/** How a command opens the application: with the engine in a forked Node process, and notices on standard error. */
import type { Settings } from "../../app/contract/setting.ts";
import { toWire } from "../../app/error.ts";
import { type Application, createApplication } from "../application.ts";
import { createNodeSpawn } from "../engine/spawn.ts";
import { findInstallation } from "../installation.ts";
import type { CommandContext } from "./command.ts";

export interface OpenOptions {
  /** "memory": nothing is stored and a running Halogen is not in the way. */
  store: "file" | "memory";
  /** Settings that hold for this run only. */
  settings?: Partial<Settings>;
}

/** The caller closes it. */
export async function openApplication(context: CommandContext, { store, settings }: OpenOptions): Promise<Application> {
  const { environment, version, io } = context;
  const installation = findInstallation();
  const application = await createApplication({
    environment,
    version,
    shell: "browser",
    store,
    settings,
    clock: () => Date.now(),
    report: (error) => io.err(`halogen: ${toWire(error).message}\n`),
    spawnEngine: (argument) => createNodeSpawn({ entry: installation.engineChild, ...argument }),
  });
  application.service.subscribe((event) => {
    if (event.name !== "notice") return;
    const { level, message, hint } = event.payload;
    io.err(`${level}: ${message}${hint === "" ? "" : ` (${hint})`}\n`);
  });
  return application;
}
