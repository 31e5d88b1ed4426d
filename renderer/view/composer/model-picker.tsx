import { Check, ChevronDown, CircleAlert, RefreshCw } from "lucide-react";
import { useLayoutEffect, useRef } from "react";
import type { Model } from "../../../app/contract/model.ts";
import { formatBytes, formatCount, formatParameters } from "../../../app/number.ts";
import { planWords } from "../../../app/plan.ts";
import { attempt } from "../../command/command.ts";
import { chooseModel, scanModels, unloadModel } from "../../command/model.ts";
import { formatPercent } from "../../logic/number.ts";
import { useChatModel } from "../chosen.ts";
import { ProgressBar } from "../control/progress.tsx";
import { useDocument, usePage } from "../page.ts";
import { ChipPopover } from "./chip-popover.tsx";

function facts(model: Model): string {
  const context = model.contextLength > 0 ? `context ${formatCount(model.contextLength)}` : "";
  const parameters = model.parameters > 0 ? formatParameters(model.parameters) : "";
  return [parameters, model.format, formatBytes(model.bytes), context].filter((part) => part !== "").join(" · ");
}

function stateWords(model: Model): string {
  if (model.state === "loaded") return "Loaded";
  if (model.state === "loading")
    return model.progress === null ? "Loading" : `Loading ${formatPercent(model.progress, 1)}`;
  return "";
}

function ModelItem({ model, chosen }: { model: Model; chosen: boolean }) {
  const page = usePage();
  const broken = model.state === "broken";
  return (
    <li className={`model ${model.state}`}>
      <button
        type="button"
        className="model-choose"
        aria-pressed={chosen}
        disabled={broken}
        onClick={() => attempt(page, () => chooseModel(page, model))}
      >
        <span className="model-mark">
          {chosen && <Check size={14} strokeWidth={2} aria-hidden="true" />}
          {!chosen && model.error !== null && <CircleAlert size={14} strokeWidth={1.75} aria-hidden="true" />}
        </span>
        <span className="model-text">
          <span className="model-head">
            <span className="model-name">{broken ? model.fileName : model.name}</span>
            <span className={`model-state ${model.state}`}>{stateWords(model)}</span>
          </span>
          {!broken && <small>{facts(model)}</small>}
          {model.error !== null && (
            <span className="model-reason">
              {model.error.message} {model.error.hint}
            </span>
          )}
          {model.state === "loaded" && model.plan !== null && (
            <small className="model-plan">{planWords(model.plan)}</small>
          )}
          {model.state === "loading" && (
            <ProgressBar
              label={`Loading ${model.name}`}
              value={model.progress ?? 0}
              total={model.progress === null ? null : 1}
            />
          )}
        </span>
      </button>
      {model.state === "loaded" && (
        <button type="button" className="text-button" onClick={() => attempt(page, () => unloadModel(page, model))}>
          Unload
        </button>
      )}
    </li>
  );
}

function order(a: Model, b: Model): number {
  return Number(a.state === "broken") - Number(b.state === "broken") || a.name.localeCompare(b.name);
}

/** Opens where the chosen one is. */
function ModelList({ chosenId }: { chosenId: string | undefined }) {
  const models = useDocument((state) => state.models);
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    const button = list.current?.querySelector<HTMLElement>('[aria-pressed="true"]');
    const item = button?.closest("li");
    if (!list.current || !button || !item) return;
    // Not by the browser's own scrolling: the sheet is not in its place yet.
    button.focus({ preventScroll: true });
    list.current.scrollTop = item.offsetTop - (list.current.clientHeight - item.offsetHeight) / 2;
  }, []);
  return (
    <ul ref={list}>
      {[...models.values()].sort(order).map((model) => (
        <ModelItem key={model.id} model={model} chosen={model.id === chosenId} />
      ))}
    </ul>
  );
}

/** The chat's model, and all the others with their state. */
export function ModelPicker() {
  const page = usePage();
  const chosen = useChatModel();
  const folder = useDocument((state) => state.info?.modelFolder ?? "");
  const loading = chosen?.state === "loading";
  return (
    <ChipPopover
      kind="model"
      label="Models"
      className="models"
      chip={
        <button type="button" className="chip model-chip">
          <span className={`dot ${chosen?.state ?? "none"}`} aria-hidden="true" />
          <span className="unseen">Model: </span>
          <span className="chip-text">{chosen?.name ?? "No model"}</span>
          {loading && chosen.progress !== null && (
            <span className="chip-note">{formatPercent(chosen.progress, 1)}</span>
          )}
          <ChevronDown size={13} strokeWidth={1.75} aria-hidden="true" />
        </button>
      }
    >
      <ModelList chosenId={chosen?.id} />
      <div className="popover-foot">
        <span className="quiet" title={folder}>
          Models are GGUF files in <span className="path">{folder}</span>
        </span>
        <button type="button" className="button small" onClick={() => attempt(page, () => scanModels(page))}>
          <RefreshCw size={12} strokeWidth={1.75} aria-hidden="true" />
          Look again
        </button>
      </div>
    </ChipPopover>
  );
}
