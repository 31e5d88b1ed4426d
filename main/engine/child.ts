/** Entry of the engine process: a utility process of Electron's main, or a forked Node process when headless. */
import { toWire } from "../../app/error.ts";
import { readChildArgument } from "./argument.ts";
import { loadEngine } from "./load.ts";
import { type EngineServer, serveEngine } from "./server.ts";
import type { Port, ServerMessage } from "./wire.ts";

/** The port that Electron gives to a utility process, as far as it is used here. */
interface ParentPort {
  postMessage(message: unknown): void;
  on(event: "message", handler: (event: { data: unknown }) => void): void;
  on(event: "close", handler: () => void): void;
}

/** The engine gets this long to end; then the process goes without it, because nothing may linger. */
const lastWords = 3000;
const parentCheck = 1000;

interface Parent {
  port: Port;
  onGone(handler: () => void): void;
}

function findParent(): Parent {
  const parentPort = (process as unknown as { parentPort?: ParentPort }).parentPort;
  if (parentPort !== undefined && parentPort !== null) {
    return {
      port: {
        post: (message) => parentPort.postMessage(message),
        onMessage: (handler) => parentPort.on("message", (event) => handler(event.data)),
      },
      onGone: (handler) => parentPort.on("close", handler),
    };
  }
  if (process.send === undefined) throw new Error("this is an engine process: Halogen starts it, not a person");
  return {
    port: {
      // The callback takes the place of a throw when the other end is gone; `disconnect` tells of that.
      post: (message) => process.send?.(message, undefined, undefined, () => undefined),
      onMessage: (handler) => process.on("message", handler),
    },
    onGone: (handler) => process.on("disconnect", handler),
  };
}

function leave(server: EngineServer | null, andThen: () => void): void {
  // Not unref'd: this timer is what ends a process whose engine does not.
  setTimeout(() => process.kill(process.pid, "SIGKILL"), lastWords);
  (server?.close() ?? Promise.resolve()).then(andThen, andThen);
}

async function run(): Promise<void> {
  const parent = findParent();
  const post = (message: ServerMessage): void => parent.port.post(message);
  let server: EngineServer | null = null;
  let leaving = false;
  const leaveOnce = (andThen: () => void): void => {
    if (leaving) return;
    leaving = true;
    leave(server, andThen);
  };
  const gone = (): void => leaveOnce(() => process.exit(0));

  // A terminal sends its interrupt to the whole group; main decides what it means, and tells.
  process.on("SIGINT", () => undefined);
  parent.onGone(gone);
  const firstParent = process.ppid;
  setInterval(() => {
    if (process.ppid !== firstParent) gone();
  }, parentCheck).unref();

  try {
    const engine = await loadEngine(readChildArgument(process.argv[process.argv.length - 1]));
    const info = await engine.info();
    server = serveEngine(engine, parent.port, () => leaveOnce(() => post({ kind: "closed" })));
    post({ kind: "hello", info });
  } catch (error) {
    post({ kind: "unable", error: toWire(error) });
    leaveOnce(() => undefined);
  }
}

void run();
