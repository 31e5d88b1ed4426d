/** The promise of the design: what streamed is there after kill -9, up to at most 250 ms before it. Twenty times, into one database. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { openStore } from "../../main/store/open.ts";
import { scratchFolder } from "./scratch.ts";
import { textOf } from "./stream-text.ts";

const child = fileURLToPath(new URL("./stream-child.ts", import.meta.url));

interface Report {
  made: { length: number; time: number }[];
  kept: number;
  killedAt: number;
}

/** Kills it after so many flushes and a random moment more, so that kills fall into, before and after writes. */
async function streamAndKill(path: string, id: string, flushes: number): Promise<Report> {
  const running = spawn(process.execPath, [child, path, id], { stdio: ["ignore", "pipe", "inherit"] });
  const report: Report = { made: [], kept: 0, killedAt: 0 };
  let rest = "";
  let seen = 0;
  running.stdout.setEncoding("utf8");
  running.stdout.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [word, length, time] = line.split(" ");
      if (word === "made") report.made.push({ length: Number(length), time: Number(time) });
      if (word !== "kept") continue;
      report.kept = Number(length);
      seen += 1;
      if (seen === flushes) {
        setTimeout(() => {
          report.killedAt = Date.now();
          running.kill("SIGKILL");
        }, Math.random() * 200);
      }
    }
  });
  await once(running, "close");
  expect(running.signalCode).toBe("SIGKILL");
  return report;
}

it("keeps a streaming reply through kill -9, twenty times", async () => {
  const path = join(scratchFolder(), "halogen.db");
  for (let round = 0; round < 20; round++) {
    const report = await streamAndKill(path, `m${round}`, 1 + (round % 5));
    const due = report.made.filter((entry) => entry.time <= report.killedAt - 250).pop()?.length ?? 0;

    // As the next start would find it: the log of the killed process is still there.
    const store = openStore({ path, clock: Date.now });
    const [left, ...others] = store.markInterrupted();
    expect(others).toEqual([]);
    expect(left).toMatchObject({ id: `m${round}`, status: "interrupted" });
    const block = left?.blocks[0];
    const text = block?.type === "text" ? block.text : "";
    expect(text).toBe(textOf(text.length));
    expect(text.length).toBeGreaterThanOrEqual(report.kept);
    expect(text.length).toBeGreaterThanOrEqual(due);
    expect(store.document("s1")?.messages).toHaveLength(round + 1);
    store.close();

    const database = new Database(path, { readonly: true });
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(database.pragma("foreign_key_check")).toEqual([]);
    database.close();
  }
});
