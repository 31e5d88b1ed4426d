import { Slider } from "radix-ui";
import { useState } from "react";
import type { Model } from "../../../../app/contract/model.ts";
import { attempt } from "../../../command/command.ts";
import { setSampling } from "../../../command/session.ts";
import { defaultOf, hintOf, parseField, rangeOf, type SamplingField } from "../../../logic/sampling.ts";
import { usePage } from "../../page.ts";
import { ResetButton } from "./field-frame.tsx";

/** A field shows what was set; empty, it shows the model's own value in grey. */
export function NumberField({
  field,
  value,
  model,
}: {
  field: SamplingField;
  value: number | null;
  model: Model | null;
}) {
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
      <ResetButton label={field.label.toLowerCase()} set={value !== null} onReset={() => set(null)} />
    </div>
  );
}
