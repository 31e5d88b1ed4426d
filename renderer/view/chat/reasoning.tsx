import { ChevronRight } from "lucide-react";
import { useEffect, useState } from "react";
import type { Block } from "../../../app/contract/message.ts";
import { formatDuration, plural } from "../../logic/number.ts";
import { Markdown } from "../markdown/markdown.tsx";

type ReasoningBlock = Extract<Block, { type: "reasoning" }>;

/** Milliseconds since `start`, ten times a second while it runs. */
function useElapsed(start: number | null, running: boolean): number | null {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(performance.now()), 100);
    return () => clearInterval(timer);
  }, [running]);
  return start === null ? null : Math.max(0, now - start);
}

function title(block: ReasoningBlock, streaming: boolean, elapsed: number | null): string {
  const time = block.milliseconds ?? elapsed;
  const parts: string[] = [];
  if (streaming) parts.push(elapsed === null ? "Thinking" : `Thinking for ${formatDuration(elapsed)}`);
  else if (!block.finished) parts.push("Thinking, not finished");
  else parts.push(time === null ? "Thought" : `Thought for ${formatDuration(time)}`);
  if (block.tokens !== null) parts.push(plural(block.tokens, "token"));
  return parts.join(" · ");
}

/** What the model thought. Open while it thinks, closed after, unless the reader has chosen. */
export function Reasoning({
  block,
  streaming,
  startedAt,
}: {
  block: ReasoningBlock;
  streaming: boolean;
  startedAt: number | null;
}) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const elapsed = useElapsed(startedAt, streaming);
  const open = chosen ?? streaming;
  return (
    <section className={block.finished || streaming ? "reasoning" : "reasoning unfinished"}>
      <button type="button" className="reasoning-title" aria-expanded={open} onClick={() => setChosen(!open)}>
        {title(block, streaming, elapsed)}
        <ChevronRight size={13} strokeWidth={1.75} aria-hidden="true" className={open ? "turned" : ""} />
      </button>
      {open && <Markdown text={block.text} streaming={streaming} />}
    </section>
  );
}
