/** `halogen models`: what lies in the model folders, and what is wrong with which file. */
import type { Model } from "../../app/contract/model.ts";
import { toWire, type WireError } from "../../app/error.ts";
import { formatBytes, formatParameters } from "../../app/number.ts";
import { openApplication } from "./application.ts";
import { type Command, exitCode } from "./command.ts";
import { planLine } from "./plan.ts";
import { table } from "./table.ts";

export const models: Command = {
  name: "models",
  summary: "List the models in the model folders",
  usage: "[--json | --plan]",
  options: { json: { type: "boolean" }, plan: { type: "boolean" } },
  help: [
    ["--json", "as JSON, with everything that is known"],
    ["--plan", "and what each would be given of the memory now, and why"],
  ],
  positionals: 0,
  async run(context) {
    const { io, environment, values } = context;
    const application = openApplication(context, "command");
    try {
      const found = await application.library.scan();
      if (values.json === true) {
        const models = await Promise.all(found.map(({ id }) => application.library.studied(id)));
        io.out(`${JSON.stringify({ folders: environment.modelFolders, models }, null, 2)}\n`);
        return exitCode.done;
      }
      if (found.length === 0) {
        io.err(`There are no models yet. Put a GGUF file into ${environment.modelFolders[0]}\n`);
        return exitCode.done;
      }
      const rows = found.map((model) => [
        model.fileName,
        model.architecture || "-",
        model.format || "-",
        model.parameters > 0 ? formatParameters(model.parameters) : "-",
        formatBytes(model.bytes),
        model.error === null ? "ok" : model.error.code,
      ]);
      io.out(`${table([["FILE", "ARCHITECTURE", "FORMAT", "PARAMETERS", "SIZE", "STATE"], ...rows])}\n`);
      if (values.plan === true) {
        const usable = found.filter(({ state }) => state !== "broken");
        for (const model of usable) {
          try {
            io.out(planLine(model, await application.library.plan(model.id)));
          } catch (error) {
            io.err(problemLine(model, toWire(error)));
          }
        }
      }
      for (const model of found) if (model.error !== null) io.err(problemLine(model, model.error));
      return exitCode.done;
    } finally {
      await application.close();
    }
  },
};

function problemLine({ fileName }: Model, { message, hint }: WireError): string {
  return `${fileName}: ${message}${hint === "" ? "" : ` (${hint})`}\n`;
}
