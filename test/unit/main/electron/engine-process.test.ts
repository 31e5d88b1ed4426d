import { EventEmitter } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { createUtilitySpawn, type UtilitySpawnOptions } from "../../../../main/electron/engine-process.ts";
import type { ProcessExit } from "../../../../main/engine/process.ts";

function fakeUtility() {
  const child = Object.assign(new EventEmitter(), {
    pid: undefined as number | undefined,
    stderr: new EventEmitter(),
    posted: [] as unknown[],
    killed: 0,
    postMessage(message: unknown) {
      child.posted.push(message);
    },
    kill() {
      child.killed += 1;
      return true;
    },
  });
  const forks: unknown[][] = [];
  const utilityProcess = {
    fork(...values: unknown[]) {
      forks.push(values);
      return child;
    },
  } as unknown as UtilitySpawnOptions["utilityProcess"];
  return {
    child,
    forks,
    spawn: createUtilitySpawn({ utilityProcess, entry: "/app/engine-child.cjs", argument: "{}" }),
  };
}

afterEach(() => vi.restoreAllMocks());

test("is started with its one argument and without an input", () => {
  const { forks, spawn } = fakeUtility();
  spawn();
  expect(forks).toEqual([
    ["/app/engine-child.cjs", ["{}"], expect.objectContaining({ stdio: ["ignore", "inherit", "pipe"] })],
  ]);
});

test("messages go both ways, none after the end", () => {
  const { child, spawn } = fakeUtility();
  const engine = spawn();
  const received: unknown[] = [];
  engine.onMessage((message) => received.push(message));
  child.emit("message", { kind: "hello" });
  engine.post({ kind: "ping" } as never);
  child.emit("exit", 0);
  engine.post({ kind: "ping" } as never);
  expect([received, child.posted]).toEqual([[{ kind: "hello" }], [{ kind: "ping" }]]);
});

test("its end is told with the code and the last of what it wrote, also to who asks late", () => {
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const { child, spawn } = fakeUtility();
  const engine = spawn();
  const exits: ProcessExit[] = [];
  engine.onExit((exit) => exits.push(exit));
  child.stderr.emit("data", Buffer.from(`${"x".repeat(9000)}the reason\n`));
  child.emit("exit", 139);
  engine.onExit((exit) => exits.push(exit));
  expect(exits).toHaveLength(2);
  expect(exits[0]).toMatchObject({ code: 139, signal: null });
  expect(exits[0]?.stderr).toMatch(/the reason$/);
  expect(exits[0]?.stderr.length).toBeLessThanOrEqual(4096);
});

test("is ended by force, once it has an id; and left alone when it is gone", () => {
  const kill = vi.spyOn(process, "kill").mockReturnValue(true);
  const { child, spawn } = fakeUtility();
  const engine = spawn();
  engine.kill();
  expect([child.killed, kill.mock.calls]).toEqual([1, []]);
  child.pid = 4242;
  child.emit("spawn");
  expect(engine.pid).toBe(4242);
  engine.kill();
  expect(kill.mock.calls).toEqual([[4242, "SIGKILL"]]);
  // Electron clears the id; another process may have it by then.
  child.pid = undefined;
  child.emit("exit", 9);
  engine.kill();
  expect(kill.mock.calls).toHaveLength(1);
});
