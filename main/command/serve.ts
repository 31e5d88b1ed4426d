/** `halogen serve`: the whole app for a browser, until it is interrupted. */
import { findInstallation } from "../installation.ts";
import { isLoopback } from "../server/access.ts";
import { createServer } from "../server/server.ts";
import { openApplication } from "./application.ts";
import { type Command, exitCode, numberOption, stringOption } from "./command.ts";

/** Where no well-known service lives. */
const usualPort = 7411;

export const serve: Command = {
  name: "serve",
  summary: "Serve the app to a browser on this machine",
  usage: "[--port N] [--host ADDRESS] [--allow-host NAME]...",
  options: {
    port: { type: "string", short: "p" },
    host: { type: "string" },
    "allow-host": { type: "string", multiple: true },
  },
  help: [
    ["-p, --port N", `the port to listen on; 0 = any free one (${usualPort})`],
    ["--host ADDRESS", "the address to listen on; 0.0.0.0 lets other machines in (127.0.0.1)"],
    ["--allow-host NAME", "a further name by which this machine may be called"],
  ],
  positionals: 0,
  async run(context) {
    const { io, signal, values } = context;
    const port = numberOption(context, "port", { from: 0, to: 65_535, integer: true }) ?? usualPort;
    const host = stringOption(context, "host") ?? "127.0.0.1";
    const allowedHosts = [values["allow-host"] ?? []].flat().map(String);
    const application = openApplication(context, "app");
    try {
      const server = await createServer({
        service: application.service,
        pageFolder: findInstallation().pageFolder,
        host,
        port,
        allowedHosts,
        log: (line) => io.err(`halogen: ${line}\n`),
      });
      if (!isLoopback(host)) {
        io.err(
          "warning: other machines can reach this server, without encryption; whoever knows the address can use it\n",
        );
      }
      io.out(`Halogen is at ${server.address}\n`);
      io.err("Open this address in a browser. Ctrl-C ends it.\n");
      await ended(signal);
      await server.close();
    } finally {
      await application.close();
    }
    return exitCode.done;
  },
};

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
