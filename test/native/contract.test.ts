import type { Engine } from "../../app/engine.ts";
import { createHost } from "../../main/engine/host.ts";
import { loadEngine } from "../../main/engine/load.ts";
import { createNativeEngine } from "../../native/index.ts";
import { describeEngine, type Subject } from "../fixtures/engine-contract.ts";
import { hostOf } from "../fixtures/engine-process.ts";
import { starterModel, storyPrompt } from "../fixtures/starter-model.ts";

const subject = (engine: Engine): Subject => ({
  engine,
  path: starterModel(),
  missingPath: "/no such folder/model.gguf",
  prompt: storyPrompt,
});

describeEngine("native engine", async () => subject(createNativeEngine()));

describeEngine("native engine in a process", async () => subject(hostOf({}).host));

describeEngine("native engine in the host's own process", async () =>
  subject(
    createHost({
      spawn: () => {
        throw new Error("no process is to be started");
      },
      inProcess: true,
      loadInProcess: () => loadEngine({ module: null, options: {} }),
    }),
  ),
);
