import type { Device } from "../../../app/engine.ts";
import { formatBytes, formatCount, formatShare } from "../../../app/number.ts";
import { planParts, planWords } from "../../../app/plan.ts";
import { formatPercent, formatRate } from "../../logic/number.ts";
import { Hint } from "../control/button.tsx";
import { useDocument, useLive } from "../page.ts";

const backendNames: Record<string, string> = {
  cpu: "CPU",
  hip: "HIP",
  cuda: "CUDA",
  vulkan: "Vulkan",
  npu: "NPU",
  remote: "Remote",
};

function Devices({ devices, chosen }: { devices: readonly Device[]; chosen: string | null }) {
  return (
    <dl className="hint-table devices">
      {devices.map((device) => (
        <div key={`${device.backend} ${device.name}`}>
          <dt>
            {backendNames[device.backend] ?? device.backend}
            {device.backend === chosen ? ", chosen" : device.usable ? "" : ", refused"}
          </dt>
          <dd>
            {device.name}
            {device.reason !== "" && `: ${device.reason}`}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Backend() {
  const engine = useDocument((state) => state.engine);
  const apart = useDocument(({ connection }) => connection === "closed" || connection === "refused");
  if (!engine) return <span>{apart ? "Not connected" : "Starting…"}</span>;
  if (engine.state !== "ready") {
    const words = {
      starting: "Engine starting",
      restarting: "Engine restarting",
      failed: "Engine failed",
      closed: "Engine closed",
    };
    return <span className={engine.state === "failed" ? "bad" : "warn"}>{words[engine.state]}</span>;
  }
  const device = engine.devices.find((candidate) => candidate.backend === engine.backend && candidate.usable);
  const name = backendNames[engine.backend ?? ""] ?? engine.backend ?? "No backend";
  return (
    <Hint text={<Devices devices={engine.devices} chosen={engine.backend} />}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: its tooltip says why this device was chosen */}
      <span className="status-device" tabIndex={0}>
        <b>{name}</b> {device?.name ?? ""}
      </span>
    </Hint>
  );
}

/** How full the context is; its tooltip says how it came to be so long, and what the model takes. */
function Context() {
  const telemetry = useLive((state) => state.telemetry);
  const plan = useDocument((state) => [...state.models.values()].find((one) => one.state === "loaded")?.plan ?? null);
  if (!telemetry || telemetry.contextLength <= 0) return null;
  const { contextUsed, contextLength } = telemetry;
  const detail = (
    <div className="hint-plan">
      <p>
        {formatCount(contextUsed)} of {formatCount(contextLength)} tokens
      </p>
      {plan !== null && (
        <>
          <p className="quiet">{planWords(plan)}</p>
          <dl className="hint-table">
            {planParts(plan).map(([name, bytes]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{formatBytes(bytes)}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </div>
  );
  return (
    <Hint text={detail}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: its tooltip says why the context is as it is */}
      <span tabIndex={0}>context {formatPercent(contextUsed, contextLength)}</span>
    </Hint>
  );
}

function LoadedModel() {
  const model = useDocument((state) => {
    const all = [...state.models.values()];
    return all.find((one) => one.state === "loading") ?? all.find((one) => one.state === "loaded") ?? null;
  });
  if (!model) return <span className="faint">no model loaded</span>;
  const progress =
    model.state === "loading"
      ? `, loading${model.progress === null ? "" : ` ${formatPercent(model.progress, 1)}`}`
      : "";
  return (
    <span className="status-model">
      {model.name}
      {model.name.includes(model.format) ? "" : ` ${model.format}`}
      {progress}
    </span>
  );
}

/** The engine's pools, by the names it gives them. */
const poolNames: Record<string, string> = { weights: "Weights", kv: "Context", scratch: "Scratch" };

function Memory() {
  const telemetry = useLive((state) => state.telemetry);
  if (!telemetry || telemetry.machineTotal <= 0) return null;
  const { machineUsed, machineTotal, processBytes, memory } = telemetry;
  const detail = (
    <dl className="hint-table">
      {memory.map((pool) => (
        <div key={pool.name}>
          <dt>{poolNames[pool.name] ?? pool.name}</dt>
          <dd>{pool.limit === null ? formatBytes(pool.used) : formatShare(pool.used, pool.limit)}</dd>
        </div>
      ))}
      <div>
        <dt>Engine process</dt>
        <dd>{formatBytes(processBytes)}</dd>
      </div>
      <div>
        <dt>This machine</dt>
        <dd>{formatShare(machineUsed, machineTotal)}</dd>
      </div>
    </dl>
  );
  return (
    <Hint text={detail}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: its tooltip lists every pool */}
      <span tabIndex={0}>{formatShare(machineUsed, machineTotal)}</span>
    </Hint>
  );
}

export function StatusBar() {
  const telemetry = useLive((state) => state.telemetry);
  // The streaming reply knows its rate sooner than telemetry, which comes once a second.
  const rate = useLive(
    (state) => [...state.replies.values()].find((reply) => reply.tokens > 0)?.tokensPerSecond ?? null,
  );
  const shown = rate ?? telemetry?.tokensPerSecond ?? null;
  const state = useDocument((document) =>
    document.connection === "closed" || document.connection === "refused"
      ? "failed"
      : (document.engine?.state ?? "starting"),
  );
  return (
    <footer className="status">
      <span className={`dot ${shown === null ? state : "live-dot"}`} aria-hidden="true" />
      <Backend />
      <LoadedModel />
      <Context />
      <span className="spring" />
      {shown !== null && <span className="live">{formatRate(shown)}</span>}
      <Memory />
    </footer>
  );
}
