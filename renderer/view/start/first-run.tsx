import { Download as DownloadIcon, FolderOpen, RefreshCw } from "lucide-react";
import { useState } from "react";
import type { CatalogueEntry, Download } from "../../../app/contract/model.ts";
import { formatBytes, formatShare } from "../../../app/number.ts";
import { attempt } from "../../command/command.ts";
import { cancelDownload, scanModels, startDownload } from "../../command/model.ts";
import { formatRemaining } from "../../logic/number.ts";
import { ErrorCard } from "../control/error-card.tsx";
import { ProgressBar } from "../control/progress.tsx";
import { CopyButton } from "../markdown/code-block.tsx";
import { useDocument, usePage } from "../page.ts";

const running: ReadonlySet<Download["state"]> = new Set([
  "queued",
  "connecting",
  "downloading",
  "verifying",
  "unpacking",
]);

function words(download: Download): string {
  switch (download.state) {
    case "queued":
      return "Waiting for its turn";
    case "connecting":
      return `Reaching the ${download.source}`;
    case "downloading":
      return `From the ${download.source}`;
    case "verifying":
      return "Checking the file";
    case "unpacking":
      return "Unpacking";
    case "done":
      return "Installed";
    case "failed":
    case "cancelled":
      return "";
  }
}

function DownloadProgress({ download }: { download: Download }) {
  const page = usePage();
  const moving = download.state === "downloading";
  const left = formatRemaining(download.received, download.total, download.bytesPerSecond);
  const speed = download.bytesPerSecond === 0 ? "stalled, trying again" : `${formatBytes(download.bytesPerSecond)}/s`;
  return (
    <div className="download">
      <div className="download-row">
        <span>{words(download)}</span>
        <span className="spring" />
        {moving && (
          <span className={download.bytesPerSecond === 0 ? "warn" : ""}>
            {speed}
            {left !== "" && ` · ${left}`}
          </span>
        )}
      </div>
      <ProgressBar
        label={`Download of ${download.name}`}
        value={download.received}
        total={moving ? download.total : null}
      />
      <div className="download-row">
        <span>
          {download.total === null ? formatBytes(download.received) : formatShare(download.received, download.total)}
        </span>
        <span className="spring" />
        <button
          type="button"
          className="button small"
          onClick={() => attempt(page, () => cancelDownload(page, download.id))}
        >
          Cancel
        </button>
      </div>
    </div>
  );
}

function StarterCard({ entry }: { entry: CatalogueEntry }) {
  const page = usePage();
  const download = useDocument((state) =>
    [...state.downloads.values()].reverse().find((one) => one.name === entry.name),
  );
  const busy = download && running.has(download.state);
  return (
    <section className="card starter" aria-label={entry.name}>
      <header>
        <h3>{entry.name}</h3>
        <span className="quiet">
          {formatBytes(entry.bytes)} · {entry.licence}
        </span>
      </header>
      <p>{entry.description}</p>
      {busy ? (
        <DownloadProgress download={download} />
      ) : (
        <>
          {download?.state === "failed" && download.error && <ErrorCard error={download.error} />}
          {download?.state === "cancelled" && (
            <p className="quiet">Cancelled. What was received is kept for the next try.</p>
          )}
          <button
            type="button"
            className="button primary"
            onClick={() => attempt(page, () => startDownload(page, entry.id))}
          >
            <DownloadIcon size={15} strokeWidth={1.75} aria-hidden="true" />
            {download?.state === "failed" ? "Try again" : "Download"}
          </button>
        </>
      )}
    </section>
  );
}

function BrokenModels() {
  const models = useDocument((state) => state.models);
  const broken = [...models.values()].filter((model) => model.state === "broken");
  if (broken.length === 0) return null;
  return (
    <section className="card" aria-label="Files that cannot be used">
      <h3>Files that cannot be used</h3>
      <ul className="broken-list">
        {broken.map((model) => (
          <li key={model.id}>
            <code>{model.fileName}</code>
            <p>
              {model.error?.message} {model.error?.hint}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function FirstRun() {
  const page = usePage();
  const catalogue = useDocument((state) => state.catalogue);
  const folder = useDocument((state) => state.info?.modelFolder ?? "");
  const [scanning, setScanning] = useState(false);
  const starters = catalogue.filter((entry) => entry.starter && !entry.installed);
  const scan = () => {
    setScanning(true);
    attempt(page, () => scanModels(page).finally(() => setScanning(false)));
  };
  return (
    <div className="scroll first-run">
      <div className="column">
        <h2>Halogen needs a model</h2>
        <p className="quiet">
          Models run on this machine and answer without a network. Begin with a small one, larger ones can follow.
        </p>
        {starters.map((entry) => (
          <StarterCard key={entry.id} entry={entry} />
        ))}
        <section className="card" aria-label="Use your own file">
          <header>
            <h3>
              <FolderOpen size={15} strokeWidth={1.75} aria-hidden="true" /> Or use a file you have
            </h3>
          </header>
          <p>Put a GGUF file into this folder, then look again.</p>
          <div className="folder">
            <code>{folder}</code>
            <CopyButton text={folder} name="Copy folder" />
          </div>
          <button type="button" className="button" disabled={scanning} onClick={scan}>
            <RefreshCw className={scanning ? "spin" : ""} size={14} strokeWidth={1.75} aria-hidden="true" />
            Look again
          </button>
        </section>
        <BrokenModels />
      </div>
    </div>
  );
}
