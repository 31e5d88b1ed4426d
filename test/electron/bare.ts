/** The app without a debugger in main: Playwright's makes Electron 22 crash now and then while it ends, so how it ends is tested without. */
import type { ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { type StartOptions, startProcess, waitForStderr } from "./shell.ts";

export interface BareShell {
  process: ChildProcess;
  /** Evaluates an expression in the page and waits for its promise; gives its JSON. */
  evaluate(expression: string): Promise<unknown>;
}

interface Answer {
  id?: number;
  error?: { message: string };
  result?: { result: { value: unknown }; exceptionDetails?: { exception?: { description?: string } } };
}

/** Started, and its page's script run far enough to have the bridge. */
export async function startBare(options: StartOptions): Promise<BareShell> {
  const child = await startProcess(options, ["--remote-debugging-port=0"]);
  const line = await waitForStderr(child, /DevTools listening on ws:\/\/127\.0\.0\.1:\d+/);
  const port = /127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? "";
  const socket = new WebSocket(await findPage(port));
  await new Promise((done, fail) => socket.once("open", done).once("error", fail));
  let next = 1;

  function once(expression: string): Promise<Answer> {
    const id = next++;
    return new Promise((done, fail) => {
      const receive = (data: unknown) => {
        const answer = JSON.parse(String(data)) as Answer;
        if (answer.id !== id) return;
        socket.off("message", receive);
        done(answer);
      };
      socket.on("message", receive).once("close", () => fail(new Error("the page is gone")));
      const params = { expression, awaitPromise: true, returnByValue: true };
      socket.send(JSON.stringify({ id, method: "Runtime.evaluate", params }));
    });
  }

  async function evaluate(expression: string): Promise<unknown> {
    const { error, result } = await once(expression);
    const fault = error?.message ?? result?.exceptionDetails?.exception?.description;
    if (fault !== undefined) throw new Error(fault);
    return result?.result.value;
  }

  // The document may still be the blank one from before, which has the bridge, too, and whose calls are refused.
  for (;;) {
    const { result } = await once('location.protocol === "app:" && typeof halogen === "object"');
    if (result?.result.value === true) return { process: child, evaluate };
    await pause(50);
  }
}

/** Chromium tells of its pages on request only. */
async function findPage(port: string): Promise<string> {
  for (;;) {
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as Record<string, string>[];
    const page = targets.find((target) => target.url?.startsWith("app:"));
    if (page?.webSocketDebuggerUrl !== undefined) return page.webSocketDebuggerUrl;
    await pause(50);
  }
}
