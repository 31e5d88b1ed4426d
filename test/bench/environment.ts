/** What a figure was measured on. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import os from "node:os";
import { basename } from "node:path";

export function describeMachine() {
  const processors = os.cpus();
  return {
    processor: processors[0]?.model ?? "unknown",
    logicalProcessors: processors.length,
    memoryBytes: os.totalmem(),
    system: `${os.type()} ${os.release()}`,
    architecture: os.arch(),
    node: process.versions.node,
    commit: commit(),
    /** Of the last minute: what else ran beside the bench. */
    loadBefore: os.loadavg()[0] ?? 0,
  };
}

function commit(): string {
  try {
    return execFileSync("git", ["describe", "--always", "--dirty"], { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    // A source archive has no history.
    return "unknown";
  }
}

export function describeModel(path: string) {
  const bytes = readFileSync(path);
  return { file: basename(path), bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}
