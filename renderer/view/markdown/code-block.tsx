// biome-ignore-all lint/suspicious/noArrayIndexKey: slices only come at the end, so their place is their identity
import { Check, Copy, WrapText } from "lucide-react";
import { memo, useEffect, useRef, useState } from "react";
import { copyText } from "../../command/chat.ts";
import { attempt } from "../../command/command.ts";
import { IconButton } from "../control/button.tsx";
import { usePage } from "../page.ts";
import { type CodeLines, createLineHighlighter, type LineHighlighter } from "./highlight.ts";
import { languageLabel } from "./language.ts";

/** Lines that are done and drawn once. */
interface Slice {
  text: string;
  lines: CodeLines | null;
}

interface Drawn {
  slices: readonly Slice[];
  /** Characters of the code that the slices hold. */
  length: number;
}

const nothingDrawn: Drawn = { slices: [], length: 0 };
const sliceLines = 60;
const streamPause = 120;

/** Where the next slice ends: after at most `sliceLines` whole lines; `from` when there is no whole line yet. */
function sliceEnd(code: string, from: number, streaming: boolean): number {
  let end = from;
  for (let lines = 0; lines < sliceLines; lines += 1) {
    const next = code.indexOf("\n", end);
    if (next === -1) return streaming ? end : code.length;
    end = next + 1;
  }
  return end;
}

/** Draws whole lines in slices, a slice a turn of the event loop, and after a pause while the code still grows. */
function useSlices(code: string, language: string, streaming: boolean): Drawn {
  const [drawn, setDrawn] = useState<Drawn>(nothingDrawn);
  const highlighter = useRef<{ language: string; lines: Promise<LineHighlighter | null> } | null>(null);
  const due = useRef<number | null>(null);
  const head = drawn.slices[0];
  const stale = drawn.length > code.length || (head !== undefined && !code.startsWith(head.text));
  const next = stale ? "" : code.slice(drawn.length, sliceEnd(code, drawn.length, streaming));
  useEffect(() => {
    if (highlighter.current?.language !== language || stale) {
      highlighter.current = { language, lines: createLineHighlighter(language) };
      if (drawn.length > 0) {
        setDrawn(nothingDrawn);
        return;
      }
    }
    if (next === "") return;
    let live = true;
    const add = (lines: CodeLines | null) => {
      if (live) setDrawn({ slices: [...drawn.slices, { text: next, lines }], length: drawn.length + next.length });
    };
    const { lines } = highlighter.current;
    // A throttle, not a debounce: the pause ends at its time however many lines come meanwhile.
    due.current ??= performance.now() + (streaming ? streamPause : 0);
    const timer = setTimeout(
      () => {
        due.current = null;
        lines
          .then((found) => live && add(found ? found.next(next.replace(/\n$/, "")) : null))
          // A grammar that cannot be had, or fails on this code, leaves it plain.
          .catch(() => add(null));
      },
      streaming ? Math.max(0, due.current - performance.now()) : 0,
    );
    return () => {
      live = false;
      clearTimeout(timer);
    };
  }, [next, language, streaming, drawn, stale]);
  return stale ? nothingDrawn : drawn;
}

const SliceView = memo(function SliceView({ slice }: { slice: Slice }) {
  if (!slice.lines) return <span className="code-slice">{slice.text}</span>;
  return (
    <span className="code-slice">
      {slice.lines.map((line, index) => (
        <span key={index}>
          {line.map((piece, at) =>
            piece.kind === "" ? (
              piece.text
            ) : (
              <span key={at} className={`code-${piece.kind}`}>
                {piece.text}
              </span>
            ),
          )}
          {index < (slice.lines?.length ?? 0) - 1 || slice.text.endsWith("\n") ? "\n" : ""}
        </span>
      ))}
    </span>
  );
});

export function CopyButton({ text, name = "Copy" }: { text: string; name?: string }) {
  const page = usePage();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <IconButton
      name={name}
      icon={copied ? Check : Copy}
      size={14}
      className={copied ? "done" : ""}
      onClick={() => {
        attempt(page, () => copyText(page, text));
        setCopied(true);
      }}
    />
  );
}

export function CodeBlock({ code, language, streaming }: { code: string; language: string; streaming: boolean }) {
  const { slices, length } = useSlices(code, language, streaming);
  const [wrap, setWrap] = useState(false);
  const label = languageLabel(language);
  return (
    <figure className="code" aria-label={label === "" ? "Code" : `Code, ${label}`}>
      <figcaption>
        <span>{label === "" ? "text" : label}</span>
        <span className="code-actions">
          <IconButton name="Wrap lines" icon={WrapText} size={14} aria-pressed={wrap} onClick={() => setWrap(!wrap)} />
          <CopyButton text={code} name="Copy code" />
        </span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll sideways, also by keyboard */}
      <pre className={wrap ? "wrap" : undefined} tabIndex={0}>
        <code>
          {slices.map((slice, index) => (
            <SliceView key={index} slice={slice} />
          ))}
          <span className="code-rest">{code.slice(length)}</span>
        </code>
      </pre>
    </figure>
  );
}
