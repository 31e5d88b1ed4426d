import { useState } from "react";
import { attempt } from "../../../command/command.ts";
import { setSampling } from "../../../command/session.ts";
import { parseTexts, showTexts, type TextsField, textsProblem } from "../../../logic/sampling.ts";
import { usePage } from "../../page.ts";
import { FieldFrame } from "./field-frame.tsx";

/** Texts, one a line. */
export function TextField({ field, value }: { field: TextsField; value: readonly string[] | null }) {
  const page = usePage();
  const [typed, setTyped] = useState<string | null>(null);
  const shown = showTexts(value);
  const problem = typed === null ? null : textsProblem(field, parseTexts(typed));
  const commit = () => {
    // What cannot be taken stays to be mended.
    if (typed === null || problem !== null) return;
    setTyped(null);
    if (typed !== shown) attempt(page, () => setSampling(page, { [field.key]: parseTexts(typed) }));
  };
  const id = `sampling-${field.key}`;
  return (
    <FieldFrame
      id={`${id}-label`}
      label={field.label}
      about={field.about}
      set={value !== null || typed !== null}
      onReset={() => {
        setTyped(null);
        if (value !== null) attempt(page, () => setSampling(page, { [field.key]: null }));
      }}
    >
      <textarea
        id={id}
        rows={2}
        spellCheck={false}
        aria-label={field.label}
        aria-describedby={problem === null ? `${id}-label-about` : `${id}-problem`}
        aria-invalid={problem !== null}
        placeholder={showTexts(field.usual)}
        value={typed ?? shown}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={commit}
      />
      {problem !== null && (
        <p id={`${id}-problem`} className="sampling-problem">
          {problem}
        </p>
      )}
    </FieldFrame>
  );
}
