import { Braces } from "lucide-react";
import { useEffect, useRef } from "react";
import { attempt } from "../../command/command.ts";
import { chatFormat, prepareFormat } from "../../command/format.ts";
import { type FormatKind, formatAbouts, formatNames, formatProblem } from "../../logic/format.ts";
import { setFormat } from "../../store/ui.ts";
import { useChatModel } from "../chosen.ts";
import { Choice } from "../control/choice.tsx";
import { useDocument, usePage, useUi } from "../page.ts";
import { ChipPopover } from "./chip-popover.tsx";

const kinds = [
  ["none", "Free text"],
  ["json", formatNames.json],
  ["json_schema", formatNames.json_schema],
  ["regex", formatNames.regex],
  ["ebnf", formatNames.ebnf],
] as const satisfies readonly (readonly [FormatKind | "none", string])[];

/** What the replies to what is sent from here are held to. */
export function Format() {
  const page = usePage();
  const sessionId = useUi((state) => state.sessionId);
  const formats = useUi((state) => state.formats);
  const format = useDocument((state) => chatFormat(state, { sessionId, formats }));
  // What was written is there again when another kind was only looked at.
  const written = useRef(new Map<FormatKind, string>());
  const kind = format?.kind ?? "none";
  const { about, example } = formatAbouts[kind];
  const problem = format === null ? null : formatProblem(format);
  const model = useChatModel();
  const loaded = format !== null && model?.state === "loaded" ? model.id : null;
  useEffect(() => {
    if (loaded !== null) attempt(page, () => prepareFormat(page, loaded));
  }, [page, loaded]);
  const choose = (next: FormatKind | "none") => {
    if (format !== null) written.current.set(format.kind, format.source);
    const source = next === "none" || next === "json" ? "" : (written.current.get(next) ?? "");
    setFormat(page.ui, sessionId, next === "none" ? null : { kind: next, source });
  };
  return (
    <ChipPopover
      kind="format"
      label="Format of the reply"
      className="format"
      chip={
        <button type="button" className={format === null ? "chip" : "chip on"} title="Format of the reply">
          <Braces size={13} strokeWidth={1.75} aria-hidden="true" />
          <span className="chip-label">Format</span>
          {format !== null && (
            <span className="chip-note">{problem === null ? formatNames[format.kind] : "not right yet"}</span>
          )}
        </button>
      }
    >
      <div className="format-fields">
        <Choice label="Format of the reply" value={kind} options={kinds} onChange={choose} />
        <p id="format-about" className="sampling-about">
          {about}
        </p>
        {format !== null && format.kind !== "json" && (
          <textarea
            rows={8}
            spellCheck={false}
            aria-label={formatNames[format.kind]}
            aria-describedby={problem === null ? "format-about" : "format-problem"}
            aria-invalid={problem !== null && format.source !== ""}
            placeholder={example}
            value={format.source}
            onChange={(event) => setFormat(page.ui, sessionId, { ...format, source: event.target.value })}
          />
        )}
        <p
          id="format-problem"
          className={format?.source === "" ? "format-problem faint" : "format-problem bad"}
          aria-live="polite"
        >
          {problem}
        </p>
      </div>
      <div className="popover-foot">
        <span className="quiet">For this chat, from the next message on.</span>
      </div>
    </ChipPopover>
  );
}
