/** `halogen doctor`: what this installation consists of, what of the machine it uses, and what stands in the way. */
import { totalmem } from "node:os";
import type { Model } from "../../app/contract/model.ts";
import type { EngineInfo, MemoryPool } from "../../app/engine.ts";
import { toWire, type WireError } from "../../app/error.ts";
import { formatBytes } from "../../app/number.ts";
import type { Application } from "../application.ts";
import { openApplication } from "./application.ts";
import { type Command, type CommandContext, exitCode } from "./command.ts";
import { table } from "./table.ts";

interface Problem {
  what: string;
  error: WireError;
}

interface Findings {
  version: string;
  node: string;
  platform: string;
  folders: { data: string; cache: string; models: string[] };
  engine: EngineInfo | null;
  memory: MemoryPool[];
  machineMemory: number;
  models: Pick<Model, "id" | "fileName" | "name" | "state" | "bytes">[];
  problems: Problem[];
}

export const doctor: Command = {
  name: "doctor",
  summary: "Say what is used of this machine, what is refused and why, and what is wrong",
  usage: "[--json]",
  options: { json: { type: "boolean" } },
  help: [["--json", "as JSON"]],
  positionals: 0,
  async run(context) {
    const findings = await examine(context);
    context.io.out(context.values.json === true ? `${JSON.stringify(findings, null, 2)}\n` : describe(findings));
    return findings.engine === null ? exitCode.failed : exitCode.done;
  },
};

async function examine(context: CommandContext): Promise<Findings> {
  const { environment, version } = context;
  const findings: Findings = {
    version,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    folders: { data: environment.dataFolder, cache: environment.cacheFolder, models: environment.modelFolders },
    engine: null,
    memory: [],
    machineMemory: totalmem(),
    models: [],
    problems: [],
  };
  const application = openApplication(context, "command");
  try {
    await attempt(findings, "engine", () => examineEngine(application, findings));
    await attempt(findings, "models", () => examineModels(application, findings));
  } finally {
    await application.close();
  }
  return findings;
}

/** One part's fault does not hide what the others have to say. */
async function attempt(findings: Findings, what: string, look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (error) {
    findings.problems.push({ what, error: toWire(error) });
  }
}

async function examineEngine({ engine }: Application, findings: Findings): Promise<void> {
  findings.engine = await engine.info();
  findings.memory = await engine.memory();
}

async function examineModels({ library }: Application, findings: Findings): Promise<void> {
  for (const model of await library.scan()) {
    const { id, fileName, name, state, bytes, error } = model;
    findings.models.push({ id, fileName, name, state, bytes });
    if (error !== null) findings.problems.push({ what: fileName, error });
  }
}

function describe(findings: Findings): string {
  const { engine, folders, memory, problems } = findings;
  const lines = [
    table([
      ["Halogen", findings.version],
      [
        "Engine",
        engine === null
          ? "cannot be started"
          : `${engine.version}, backend ${engine.chosen}, ${engine.threads} threads`,
      ],
      ["Node", `${findings.node}, ${findings.platform}`],
      ["Data", folders.data],
      ["Cache", folders.cache],
      ...folders.models.map((folder, i) => [i === 0 ? "Models" : "", folder]),
    ]),
  ];
  if (engine !== null) {
    lines.push("", "Processors");
    const rows = engine.devices.map(({ backend, name, usable, reason, features }) => [
      usable ? (backend === engine.chosen ? "used" : "usable") : "refused",
      backend,
      name,
      [reason, features.join(" ")].filter((part) => part !== "").join("; "),
    ]);
    lines.push(table(rows, "  "));
    lines.push("Architectures", `  ${engine.architectures.join(" ")}`, "Formats", `  ${engine.formats.join(" ")}`);
  }
  const pools = [
    ...memory.map(({ name, used, limit }) => [
      name,
      `${formatBytes(used)} used of ${limit === null ? "an unknown limit" : formatBytes(limit)}`,
    ]),
    ["machine", `${formatBytes(findings.machineMemory)} in all`],
  ];
  lines.push("", "Memory", table(pools, "  "));
  lines.push("", `Models: ${findings.models.length}`);
  if (findings.models.length > 0) {
    lines.push(
      table(
        findings.models.map(({ fileName, bytes, state }) => [fileName, formatBytes(bytes), state]),
        "  ",
      ),
    );
  }
  lines.push("", problems.length === 0 ? "No problems found." : `Problems: ${problems.length}`);
  for (const { what, error } of problems) {
    lines.push(`  ${what}: ${error.message} [${error.code}]`);
    if (error.hint !== "") lines.push(`    ${error.hint}`);
  }
  return `${lines.join("\n")}\n`;
}
