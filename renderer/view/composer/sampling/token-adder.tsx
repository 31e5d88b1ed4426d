import { type KeyboardEvent, useId, useRef, useState } from "react";
import type { TokenChoice } from "../../../../app/contract/session.ts";
import { plural } from "../../../logic/number.ts";
import { biasProblem, type NamedBy, parseBias, parseTokenChoice } from "../../../logic/token-choice.ts";
import { TokenChips } from "./token-chips.tsx";
import { type TokensState, useTokens } from "./use-tokens.ts";

const typingDelay = 150;

interface TokenAdderProps {
  label: string;
  withBias: boolean;
  modelId: string | null;
  onAdd: (token: TokenChoice, bias: number | null) => void;
}

/** Where a token is named; what it is named with is shown as tokens before it is added. */
export function TokenAdder({ label, withBias, modelId, onAdd }: TokenAdderProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [by, setBy] = useState<NamedBy>("text");
  const [typed, setTyped] = useState("");
  const [typedBias, setTypedBias] = useState("");
  const [count, setCount] = useState<number | null>(null);
  const { choice, problem } = parseTokenChoice(by, typed, count);
  const tokens = useTokens(modelId, choice === null ? [] : [choice], typingDelay);
  if (tokens.state === "read" && tokens.reading.count !== count) setCount(tokens.reading.count);
  const bias = withBias ? parseBias(typedBias) : null;
  const biasWrong = bias === undefined && typedBias !== "";
  const unknown = by === "number" && tokens.state !== "read";
  const ready = choice !== null && bias !== undefined && !unknown;
  const add = () => {
    if (!ready) return;
    onAdd(choice, bias);
    setTyped("");
    setTypedBias("");
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
    event.preventDefault();
    add();
  };
  return (
    <>
      <div className="token-add">
        <select
          className="small-select"
          aria-label={`${label}: named by`}
          value={by}
          onChange={(event) => setBy(event.target.value === "number" ? "number" : "text")}
        >
          <option value="text">Text</option>
          <option value="number">Number</option>
        </select>
        <input
          ref={field}
          className="token-input"
          autoComplete="off"
          spellCheck={false}
          inputMode={by === "number" ? "numeric" : "text"}
          aria-label={`${label}: ${by === "number" ? "number of a token" : "text"}`}
          aria-describedby={`${id}-reading`}
          aria-invalid={problem !== null}
          placeholder={by === "number" ? "number of a token" : "text, spaces count"}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {withBias && (
          <input
            className="number short"
            autoComplete="off"
            inputMode="decimal"
            aria-label={`${label}: bias`}
            aria-describedby={`${id}-reading`}
            aria-invalid={biasWrong}
            placeholder="bias"
            value={typedBias}
            onChange={(event) => setTypedBias(event.target.value)}
            onKeyDown={onKeyDown}
          />
        )}
        <button type="button" className="button small" disabled={!ready} onClick={add}>
          Add
        </button>
      </div>
      <p id={`${id}-reading`} className="token-reading" aria-live="polite">
        {problem !== null || biasWrong ? (
          <span className="sampling-problem">{problem ?? biasProblem}</span>
        ) : (
          <Reading tokens={tokens} />
        )}
      </p>
    </>
  );
}

function Reading({ tokens }: { tokens: TokensState }) {
  if (tokens.state === "reading") return <span className="faint">Reading…</span>;
  if (tokens.state === "failed") return <span className="sampling-problem">{tokens.message}</span>;
  if (tokens.state !== "read") return null;
  const found = tokens.reading.choices[0] ?? [];
  if (found.length === 0) return <span className="sampling-problem">This model has no such token.</span>;
  return (
    <>
      <span className="faint">
        {found.length === 1 ? "One token:" : `${plural(found.length, "token")}, each of them:`}
      </span>
      <TokenChips tokens={found} />
    </>
  );
}
