/** `halogen run "prompt"`: one turn through the same service as the app's, its text on standard output as it is made. */
import type { EventPayload } from "../../app/contract/event.ts";
import type { Message } from "../../app/contract/message.ts";
import type { SamplingOptions } from "../../app/contract/session.ts";
import { fromWire, HalogenError } from "../../app/error.ts";
import type { Application } from "../application.ts";
import { openApplication } from "./application.ts";
import { type Command, type CommandContext, exitCode, numberOption, stringOption, UsageError } from "./command.ts";
import { formatHelp, formatOptions, type ResponseFormat, readFormat } from "./format.ts";
import { readSampling, samplingHelp, samplingOptions } from "./sampling.ts";
import { type StatusIo, withStatusLine } from "./status-line.ts";
import { readThinking, thinkingHelp, thinkingOptions } from "./thinking.ts";

interface RunContext extends CommandContext {
  io: StatusIo;
}

export const run: Command = {
  name: "run",
  summary: "Answer one prompt",
  usage: '[options] "prompt"   (or - to read it from standard input)',
  options: {
    model: { type: "string", short: "m" },
    system: { type: "string", short: "s" },
    ...samplingOptions,
    ...formatOptions,
    ...thinkingOptions,
    context: { type: "string" },
    save: { type: "boolean" },
    stats: { type: "boolean" },
  },
  help: [
    ["-m, --model M", "a model's id, name, file name, or a path (the one for new chats)"],
    ["-s, --system S", "a system prompt"],
    ...samplingHelp,
    ...formatHelp,
    ...thinkingHelp,
    ["--context N", "tokens of context (as the settings say)"],
    ["--save", "keep it as a chat of the app, which must not run meanwhile"],
    ["--stats", "print the counts and rates on standard error"],
  ],
  positionals: 1,
  async run(given) {
    const io = withStatusLine(given.io);
    const context = { ...given, io };
    const sampling = readSampling(context);
    const contextLength = numberOption(context, "context", { from: 1, to: 10_000_000, integer: true });
    const responseFormat = await readFormat(context);
    const prompt = await readPrompt(context);
    const mode = context.values.save === true ? "command-stored" : "command";
    const application = openApplication(context, mode, contextLength === undefined ? {} : { contextLength });
    try {
      const reply = await answer(context, application, { text: prompt, responseFormat }, sampling);
      if (context.values.stats === true) io.err(describeStats(reply));
      return finish(context, reply, responseFormat !== null);
    } finally {
      await application.close();
    }
  },
};

async function readPrompt({ positionals, io }: CommandContext): Promise<string> {
  const [given] = positionals;
  if (given === undefined)
    throw new UsageError('There is no prompt. Give it in quotes, or "-" to read it from standard input.');
  if (given !== "-") return given;
  const parts: Buffer[] = [];
  for await (const part of io.stdin) parts.push(Buffer.from(part as Buffer));
  // The line end of `echo` is no part of what was asked.
  const prompt = Buffer.concat(parts)
    .toString("utf8")
    .replace(/\r?\n$/, "");
  if (prompt === "") throw new UsageError("Standard input was empty.");
  return prompt;
}

async function chooseModel(context: CommandContext, { library }: Application): Promise<string> {
  const wanted = stringOption(context, "model");
  if (wanted !== undefined && /[\\/]/.test(wanted)) return (await library.resolve(wanted)).id;
  await library.scan();
  if (wanted !== undefined) return (await library.resolve(wanted)).id;
  const preferred = library.preferred();
  if (preferred !== null) return preferred.id;
  const broken = library.list()[0]?.error ?? null;
  if (broken !== null) throw fromWire(broken);
  throw new HalogenError("model.not_found", "There is no model yet.", {
    hint: `Put a GGUF file into ${context.environment.modelFolders[0]}, or give a path with --model.`,
  });
}

/** What the template offers is waited for only where something is asked of it. */
async function chosenThinking(context: CommandContext, { library }: Application, modelId: string) {
  const asked = Object.keys(thinkingOptions).some((name) => context.values[name] !== undefined);
  return readThinking(context, asked ? await library.studied(modelId) : library.get(modelId));
}

/** Settles with the reply when it has ended, however it ended. */
async function answer(
  context: RunContext,
  application: Application,
  asked: { text: string; responseFormat: ResponseFormat | null },
  sampling: Partial<SamplingOptions>,
): Promise<Message> {
  const { io, signal } = context;
  const { service } = application;
  const modelId = await chooseModel(context, application);
  const thinking = await chosenThinking(context, application, modelId);
  const system = stringOption(context, "system");
  const created = await service.handle("session.create", { modelId, ...(system === undefined ? {} : { system }) });
  const sessionId = (created as { id: string }).id;
  await service.handle("session.update", { sessionId, sampling: { ...sampling, ...thinking } });

  const printer = createPrinter(io);
  let stop: () => void = () => undefined;
  const ended = new Promise<Message>((resolve) => {
    stop = service.subscribe((event) => {
      if (event.name === "message.delta") printer.delta(event.payload);
      else if (event.name === "message.progress") printer.progress(event.payload);
      else if (event.name === "message.changed" && event.payload.role === "assistant") {
        if (event.payload.status !== "streaming") resolve(event.payload);
      }
    });
  });
  const interrupt = () => void service.handle("chat.stop", { sessionId }).catch(application.report);
  try {
    await service.handle("chat.send", {
      sessionId,
      parentId: null,
      text: asked.text,
      ...(asked.responseFormat === null ? {} : { responseFormat: asked.responseFormat }),
    });
    signal.addEventListener("abort", interrupt, { once: true });
    if (signal.aborted) interrupt();
    return await ended;
  } finally {
    stop();
    signal.removeEventListener("abort", interrupt);
    printer.end();
  }
}

/** Text to standard output; waiting, and the model's thinking, to standard error. */
function createPrinter(io: StatusIo) {
  let wrote = false;
  /** What was thought last did not end a line. */
  let thought = false;
  return {
    progress({ phase, done, total }: EventPayload<"message.progress">) {
      if (wrote) return;
      const words = { queued: "waiting", load: "loading the model", prefill: "reading the prompt" }[phase];
      io.status(`${words}${total > 0 ? ` ${Math.floor((100 * done) / total)} %` : ""}`);
    },
    delta({ type, text }: EventPayload<"message.delta">) {
      if (type === "reasoning") {
        io.err(text);
        thought = !text.endsWith("\n");
        return;
      }
      wrote = true;
      io.out(text);
    },
    end() {
      io.clear();
      if (thought && !wrote) io.err("\n");
      if (wrote) io.out("\n");
    },
  };
}

function finish({ signal, io }: CommandContext, reply: Message, constrained: boolean): number {
  if (reply.error !== null) throw fromWire(reply.error);
  if (constrained && reply.status === "length") {
    io.err("halogen: The reply was cut off at its longest length, so it does not match as a whole.\n");
    return exitCode.failed;
  }
  return signal.aborted ? exitCode.interrupted : exitCode.done;
}

function describeStats({ stats, status, modelName }: Message): string {
  if (stats === null) return "";
  const prefill = stats.prefillMilliseconds > 0 ? (1000 * stats.recomputed) / stats.prefillMilliseconds : 0;
  return (
    `${modelName ?? ""}: ${stats.promptTokens} prompt tokens (${stats.reused} reused, ${prefill.toFixed(0)} tokens/s), ` +
    `${stats.generatedTokens} generated (${stats.tokensPerSecond.toFixed(1)} tokens/s), ` +
    `first after ${stats.firstTokenMilliseconds.toFixed(0)} ms, seed ${stats.seed}, ${status}\n`
  );
}
