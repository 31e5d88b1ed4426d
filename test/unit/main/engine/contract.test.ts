import type { Engine } from "../../../../app/engine.ts";
import { createHost } from "../../../../main/engine/host.ts";
import { describeEngine, type Subject } from "../../../fixtures/engine-contract.ts";
import { scriptedHost } from "../../../fixtures/engine-process.ts";
import { createScriptedEngine } from "../../../fixtures/scripted-engine.ts";
import { scriptedVocabulary } from "../../../fixtures/scripted-engine-vocabulary.ts";

const words = scriptedVocabulary();
const reply = "The quick brown fox jumps over the lazy dog, again and again, until the page is full of it.";
const prompt = Int32Array.from(words.encode(`script:${JSON.stringify([{ pace: 1 }, reply])}`));

const subject = (engine: Engine): Subject => ({ engine, path: "/model.gguf", missingPath: "/missing.gguf", prompt });

describeEngine("scripted engine", async () => subject(createScriptedEngine()));

describeEngine("scripted engine in a process", async () => subject(scriptedHost().host));

describeEngine("scripted engine in the host's own process", async () =>
  subject(
    createHost({
      spawn: () => {
        throw new Error("no process is to be started");
      },
      inProcess: true,
      loadInProcess: () => createScriptedEngine(),
    }),
  ),
);
