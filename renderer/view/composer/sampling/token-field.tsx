import { X } from "lucide-react";
import { useState } from "react";
import type { TokenChoice } from "../../../../app/contract/session.ts";
import type { TokenReading } from "../../../command/token.ts";
import {
  biasProblem,
  choiceName,
  parseBias,
  type TokenEntry,
  withEntry,
  withoutEntry,
} from "../../../logic/token-choice.ts";
import { IconButton } from "../../control/button.tsx";
import { FieldFrame } from "./field-frame.tsx";
import { TokenAdder } from "./token-adder.tsx";
import { TokenChips } from "./token-chips.tsx";
import { useTokens } from "./use-tokens.ts";

interface TokenFieldProps {
  id: string;
  label: string;
  about: string;
  withBias: boolean;
  entries: readonly TokenEntry[] | null;
  modelId: string | null;
  onChange: (entries: readonly TokenEntry[] | null) => void;
}

/** A list of tokens that are treated in a way of their own: with a bias, or never to come. */
export function TokenField({ id, label, about, withBias, entries, modelId, onChange }: TokenFieldProps) {
  const shown = entries ?? [];
  const tokens = useTokens(
    modelId,
    shown.map(({ token }) => token),
    0,
  );
  const change = (next: readonly TokenEntry[]) => onChange(next.length === 0 ? null : next);
  return (
    <FieldFrame id={id} label={label} about={about} set={entries !== null} onReset={() => onChange(null)}>
      {shown.length > 0 && (
        <ul className="token-list" aria-label={label}>
          {shown.map((entry, index) => (
            <TokenRow
              key={`${typeof entry.token} ${entry.token}`}
              entry={entry}
              tokens={tokens.state === "read" ? (tokens.reading.choices[index] ?? []) : null}
              onBias={(bias) => change(withEntry(shown, { ...entry, bias }))}
              onRemove={() => change(withoutEntry(shown, entry.token))}
            />
          ))}
        </ul>
      )}
      {tokens.state === "failed" && <p className="sampling-problem">{tokens.message}</p>}
      <TokenAdder
        label={label}
        withBias={withBias}
        modelId={modelId}
        onAdd={(token: TokenChoice, bias: number | null) => change(withEntry(shown, { token, bias }))}
      />
    </FieldFrame>
  );
}

interface TokenRowProps {
  entry: TokenEntry;
  /** Null while they are not known. */
  tokens: TokenReading["choices"][number] | null;
  onBias: (bias: number) => void;
  onRemove: () => void;
}

function TokenRow({ entry, tokens, onBias, onRemove }: TokenRowProps) {
  const name = choiceName(entry.token);
  return (
    <li className="token-row">
      <span className="token-names">
        {tokens === null ? <span className="token-name">{name}</span> : <TokenChips tokens={tokens} />}
        {tokens?.length === 0 && (
          <>
            <span className="token-name">{name}</span>
            <span className="warn">not in this model, counts for nothing</span>
          </>
        )}
      </span>
      {entry.bias !== null && <BiasInput name={`Bias of ${name}`} bias={entry.bias} onChange={onBias} />}
      <IconButton name={`Remove ${name}`} icon={X} size={13} onClick={onRemove} />
    </li>
  );
}

function BiasInput({ name, bias, onChange }: { name: string; bias: number; onChange: (bias: number) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const parsed = typed === null ? bias : parseBias(typed);
  const commit = () => {
    setTyped(null);
    if (parsed !== undefined && parsed !== bias) onChange(parsed);
  };
  return (
    <input
      className="number short"
      inputMode="decimal"
      autoComplete="off"
      aria-label={name}
      aria-invalid={parsed === undefined}
      title={parsed === undefined ? biasProblem : undefined}
      value={typed ?? bias}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === "Enter" && commit()}
    />
  );
}
