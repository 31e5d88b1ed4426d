import { RotateCcw, SlidersHorizontal } from "lucide-react";
import { Popover, Slider } from "radix-ui";
import { useState } from "react";
import type { Model } from "../../../app/contract/model.ts";
import { attempt } from "../../command/command.ts";
import { chatModel } from "../../command/model.ts";
import { resetSampling, setSampling } from "../../command/session.ts";
import {
  changedCount,
  defaultOf,
  hintOf,
  orderHintOf,
  parseField,
  parseTexts,
  rangeOf,
  type SamplingField,
  type SamplingGroup,
  samplingFields,
  samplingGroups,
  showTexts,
} from "../../logic/sampling.ts";
import { IconButton } from "../control/button.tsx";
import { useDocument, usePage, useUi } from "../page.ts";

/** A field shows what was set; empty, it shows the model's own value in grey. */
function Field({ field, value, model }: { field: SamplingField; value: number | null; model: Model | null }) {
  const page = usePage();
  const [typed, setTyped] = useState<string | null>(null);
  const [slid, setSlid] = useState<number | null>(null);
  const fallback = defaultOf(field.key, model);
  const set = (next: number | null) => attempt(page, () => setSampling(page, { [field.key]: next }));
  const text = typed ?? (slid ?? value)?.toString() ?? "";
  const wrong = typed !== null && parseField(field, typed) === undefined;
  const commit = () => {
    const next = typed === null ? undefined : parseField(field, typed);
    setTyped(null);
    if (next !== undefined && next !== value) set(next);
  };
  const id = `sampling-${field.key}`;
  return (
    <div className="sampling-field">
      <label htmlFor={id}>{field.label}</label>
      <p id={`${id}-about`} className="sampling-about">
        {wrong ? rangeOf(field) : [field.about, hintOf(field.key, model)].filter(Boolean).join(" ")}
      </p>
      {field.slider !== null && (
        <Slider.Root
          className={value === null && slid === null ? "slider unset" : "slider"}
          min={Math.min(field.min, 0)}
          max={field.slider}
          step={field.step}
          value={[Math.min(slid ?? value ?? (typeof fallback === "number" ? fallback : 0), field.slider)]}
          onValueChange={([next]) => next !== undefined && setSlid(next)}
          onValueCommit={([next]) => {
            setSlid(null);
            if (next !== undefined) set(Math.max(field.min, next));
          }}
        >
          <Slider.Track className="slider-track">
            <Slider.Range className="slider-range" />
          </Slider.Track>
          <Slider.Thumb className="slider-thumb" aria-label={field.label} />
        </Slider.Root>
      )}
      <input
        id={id}
        className="number"
        inputMode="decimal"
        autoComplete="off"
        aria-describedby={`${id}-about`}
        aria-invalid={wrong}
        placeholder={String(fallback)}
        value={text}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={commit}
        onKeyDown={(event) => event.key === "Enter" && commit()}
      />
      <IconButton
        name={`Reset ${field.label.toLowerCase()}`}
        icon={RotateCcw}
        size={13}
        className={value === null ? "invisible" : ""}
        disabled={value === null}
        onClick={() => set(null)}
      />
    </div>
  );
}

function Texts({ field, value }: { field: NonNullable<SamplingGroup["texts"]>; value: readonly string[] | null }) {
  const page = usePage();
  const [typed, setTyped] = useState<string | null>(null);
  const shown = showTexts(value);
  const commit = () => {
    setTyped(null);
    if (typed !== null && typed !== shown) attempt(page, () => setSampling(page, { [field.key]: parseTexts(typed) }));
  };
  const id = `sampling-${field.key}`;
  return (
    <div className="sampling-field texts">
      <label htmlFor={id}>{field.label}</label>
      <textarea
        id={id}
        rows={2}
        spellCheck={false}
        aria-describedby={`${id}-about`}
        value={typed ?? shown}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={commit}
      />
      <p id={`${id}-about`} className="sampling-about">
        {field.about}
      </p>
    </div>
  );
}

export function Sampling() {
  const page = usePage();
  const open = useUi((state) => state.open === "sampling");
  const sessionId = useUi((state) => state.sessionId);
  const newChat = useUi((state) => state.newChat);
  const stored = useDocument((state) => (sessionId === null ? undefined : state.sessions.get(sessionId)?.sampling));
  const model = useDocument((state) => chatModel(state, { sessionId, newChat }));
  const options = stored ?? newChat.sampling;
  const changed = changedCount(options);
  return (
    <Popover.Root open={open} onOpenChange={(next) => page.ui.setState({ open: next ? "sampling" : null })}>
      <Popover.Trigger className={changed > 0 ? "chip on" : "chip"}>
        <SlidersHorizontal size={13} strokeWidth={1.75} aria-hidden="true" />
        Sampling
        {changed > 0 && <span className="chip-note">{changed}</span>}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className="popover sampling"
          align="start"
          side="top"
          sideOffset={10}
          collisionPadding={12}
          aria-label="Sampling"
        >
          <div className="sampling-fields">
            {samplingFields.map((field) => (
              <Field key={`${sessionId} ${field.key}`} field={field} value={options[field.key]} model={model} />
            ))}
            {samplingGroups.map((group) => (
              <details key={group.label} className="sampling-group">
                <summary>{group.label}</summary>
                {group.fields.map((field) => (
                  <Field key={`${sessionId} ${field.key}`} field={field} value={options[field.key]} model={model} />
                ))}
                {group.texts && (
                  <Texts key={`${sessionId} ${group.texts.key}`} field={group.texts} value={options[group.texts.key]} />
                )}
              </details>
            ))}
            {orderHintOf(model) && <p className="sampling-about sampling-order">{orderHintOf(model)}</p>}
          </div>
          <footer className="popover-foot">
            <span className="quiet">Empty fields use the model's own values.</span>
            <button
              type="button"
              className="button small"
              disabled={changed === 0}
              onClick={() => attempt(page, () => resetSampling(page))}
            >
              Reset all
            </button>
          </footer>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
