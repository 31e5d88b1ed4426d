/** How a command opens the application: with the engine in a forked Node process, and what is to be known of it on standard error. */
import { toWire } from "../../app/error.ts";
import { type Application, type ApplicationOptions, createApplication } from "../application.ts";
import { createNodeSpawn } from "../engine/spawn.ts";
import { findInstallation, readCatalogue } from "../installation.ts";
import type { CommandContext } from "./command.ts";
import { tellPlans } from "./plan.ts";

/** The caller closes it. */
export function openApplication(
  context: CommandContext,
  mode: ApplicationOptions["mode"],
  settings?: ApplicationOptions["settings"],
): Application {
  const { environment, variables, version, io } = context;
  const installation = findInstallation();
  const application = createApplication({
    environment,
    variables,
    version,
    shell: "browser",
    catalogue: readCatalogue(environment.resourceFolder ?? installation.resourceFolder),
    mode,
    settings,
    clock: () => Date.now(),
    report: (error) => io.err(`halogen: ${toWire(error).message}\n`),
    probeThread: installation.probeThread,
    spawnEngine: (argument) => createNodeSpawn({ entry: installation.engineChild, ...argument }),
  });
  application.service.subscribe((event) => {
    if (event.name !== "notice") return;
    const { level, message, hint } = event.payload;
    io.err(`${level}: ${message}${hint === "" ? "" : ` (${hint})`}\n`);
  });
  tellPlans(application.service, io.err);
  return application;
}
