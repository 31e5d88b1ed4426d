/** `halogen models`: what lies in the model folders, and what is wrong with which file. */
import { openApplication } from "./application.ts";
import { type Command, exitCode } from "./command.ts";
import { formatBytes, formatCount, table } from "./table.ts";

export const models: Command = {
  name: "models",
  summary: "List the models in the model folders",
  usage: "[--json]",
  options: { json: { type: "boolean" } },
  help: [["--json", "as JSON, with everything that is known"]],
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
        model.parameters > 0 ? formatCount(model.parameters) : "-",
        formatBytes(model.bytes),
        model.error === null ? "ok" : model.error.code,
      ]);
      io.out(`${table([["FILE", "ARCHITECTURE", "FORMAT", "PARAMETERS", "SIZE", "STATE"], ...rows])}\n`);
      for (const { fileName, error } of found) {
        if (error !== null) io.err(`${fileName}: ${error.message}${error.hint === "" ? "" : ` (${error.hint})`}\n`);
      }
      return exitCode.done;
    } finally {
      await application.close();
    }
  },
};
