/** A real store in a folder of its own, with a clock that the test moves. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openStore } from "../../main/store/open.ts";
import type { Store } from "../../main/store/store.ts";

export function scratchFolder(name = "模型 é😀"): string {
  const folder = mkdtempSync(join(tmpdir(), `halogen ${name} `));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface ScratchStore {
  store: Store;
  path: string;
  /** Milliseconds; each reading moves it by one. */
  now: { value: number };
  reopen(): Store;
}

export function scratchStore(): ScratchStore {
  const path = join(scratchFolder(), "halogen.db");
  const now = { value: 1_000_000 };
  const open = (): Store => openStore({ path, clock: () => now.value++, lockMilliseconds: 0 });
  const scratch: ScratchStore = {
    store: open(),
    path,
    now,
    reopen() {
      scratch.store.close();
      scratch.store = open();
      return scratch.store;
    },
  };
  onTestFinished(() => scratch.store.close());
  return scratch;
}
