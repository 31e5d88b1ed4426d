/** Entry of the thread in which grammars are compiled and masks made, so that neither holds up the engine's. */
import { parentPort, workerData } from "node:worker_threads";
import { toWire } from "../../app/error.ts";
import { createGrammarCompiler } from "./compiler.ts";
import { createGrammarDesk, type GrammarDesk } from "./desk.ts";
import type { FromWorker, ToWorker, WorkerData } from "./message.ts";

if (parentPort === null) throw new Error("this is a thread of the engine: Halogen starts it");
const port = parentPort;

const post = (message: FromWorker): void => {
  // The mask is a copy of its own, which may leave.
  const moved = message.kind === "offer" && message.offer !== null ? [message.offer.buffer as ArrayBuffer] : [];
  port.postMessage(message, moved);
};

function open(): GrammarDesk | null {
  try {
    const compiler = createGrammarCompiler((workerData as WorkerData).vocabulary);
    post({ kind: "ready", endTokens: compiler.endTokens });
    return createGrammarDesk(compiler);
  } catch (error) {
    post({ kind: "unable", error: toWire(error) });
    return null;
  }
}

const desk = open();
port.on("message", (message: ToWorker) => {
  try {
    const offer = desk?.take(message);
    if (offer !== undefined) post({ kind: "offer", id: message.id, offer });
  } catch (error) {
    post({ kind: "fault", id: message.id, error: toWire(error) });
  }
});
