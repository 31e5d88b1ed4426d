import { RotateCcw } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "../../control/button.tsx";

/** Takes its room also while there is nothing to reset, so that nothing moves. */
export function ResetButton({ label, set, onReset }: { label: string; set: boolean; onReset: () => void }) {
  return (
    <IconButton
      name={`Reset ${label}`}
      icon={RotateCcw}
      size={13}
      className={set ? "" : "invisible"}
      disabled={!set}
      onClick={onReset}
    />
  );
}

interface FieldFrameProps {
  id: string;
  label: string;
  about: string;
  set: boolean;
  onReset: () => void;
  children: ReactNode;
}

/** A field of several controls under one name. */
export function FieldFrame({ id, label, about, set, onReset, children }: FieldFrameProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a grid in every engine, and its legend not beside a button
    <div className="sampling-block" role="group" aria-labelledby={id} aria-describedby={`${id}-about`}>
      <div className="sampling-block-head">
        <span id={id} className="sampling-block-label">
          {label}
        </span>
        <ResetButton label={label.toLowerCase()} set={set} onReset={onReset} />
      </div>
      <p id={`${id}-about`} className="sampling-about">
        {about}
      </p>
      {children}
    </div>
  );
}
