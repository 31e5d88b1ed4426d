/** Runs in a thread of its own: looks at the templates it is sent, one after another. */
import { parentPort } from "node:worker_threads";
import type { TemplateProbe } from "../../app/chat/feature.ts";
import { toWire, type WireError } from "../../app/error.ts";
import { probeTemplate } from "./probe.ts";
import { compileTemplate } from "./template.ts";

export type ProbeReply = { probe: TemplateProbe } | { error: WireError };

parentPort?.on("message", (source: string) => {
  let reply: ProbeReply;
  try {
    reply = { probe: probeTemplate(compileTemplate(source)) };
  } catch (error) {
    reply = { error: toWire(error) };
  }
  parentPort?.postMessage(reply);
});
