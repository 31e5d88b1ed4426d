/** Tells when something in the model folders changes, once it has been quiet for a moment. */
import { existsSync, type FSWatcher, mkdirSync, watch } from "node:fs";
import { sep } from "node:path";

const quietMilliseconds = 500;

/**
 * The first folder is made when it is not there, so that a file can be put into it; others are watched when they are there. Part files and
 * other hidden names are no change. Never keeps the process alive. `report` gets what keeps a folder from being watched.
 */
export function watchFolders(
  folders: readonly string[],
  onChange: () => void,
  report: (error: unknown) => void,
): { close(): void } {
  let timer: NodeJS.Timeout | null = null;
  const changed = (_event: string, name: string | null): void => {
    if (name?.split(sep).some((part) => part.startsWith("."))) return;
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(onChange, quietMilliseconds);
    timer.unref();
  };
  const watchers: FSWatcher[] = [];
  for (const [index, folder] of folders.entries()) {
    try {
      if (index === 0) mkdirSync(folder, { recursive: true });
      if (existsSync(folder)) watchers.push(watchDeep(folder, changed, report));
    } catch (error) {
      report(error);
    }
  }
  return {
    close() {
      if (timer !== null) clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** Linux watches below a folder from Node 20 on; before, only the folder itself is watched, and a look by hand finds the rest. */
function watchDeep(
  folder: string,
  changed: (event: string, name: string | null) => void,
  report: (error: unknown) => void,
): FSWatcher {
  const deep = process.platform !== "linux" || Number(process.versions.node.split(".")[0]) >= 20;
  const watcher = watch(folder, { persistent: false, recursive: deep }, changed);
  // A folder that goes away, or too many watches in the system, ends this one.
  watcher.on("error", (error) => {
    watcher.close();
    report(error);
  });
  return watcher;
}
