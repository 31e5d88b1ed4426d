/** Tells when something in the model folders changes, once it has been quiet for a moment. */
import { existsSync, type FSWatcher, watch } from "node:fs";

const quietMilliseconds = 500;

/** Folders that are not there are not watched: the download that makes one also asks for a look. Never keeps the process alive. */
export function watchFolders(folders: readonly string[], onChange: () => void): { close(): void } {
  let timer: NodeJS.Timeout | null = null;
  const changed = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(onChange, quietMilliseconds);
    timer.unref();
  };
  const watchers: FSWatcher[] = [];
  for (const folder of folders) {
    if (!existsSync(folder)) continue;
    const watcher = watch(folder, { persistent: false }, changed);
    // A folder that goes away ends its watch; `model.scan` still sees the truth.
    watcher.on("error", () => watcher.close());
    watchers.push(watcher);
  }
  return {
    close() {
      if (timer !== null) clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
