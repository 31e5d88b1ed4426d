// biome-ignore-all lint/suspicious/noArrayIndexKey: blocks only come at the end, so their place is their identity
import { Pause, Play, RefreshCw } from "lucide-react";
import type { Block, Message } from "../../../app/contract/message.ts";
import { continueReply, regenerate } from "../../command/chat.ts";
import { attempt } from "../../command/command.ts";
import { type ConversationRow, messageText } from "../../logic/conversation.ts";
import { IconButton } from "../control/button.tsx";
import { ErrorCard } from "../control/error-card.tsx";
import { CopyButton } from "../markdown/code-block.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { useLive, usePage } from "../page.ts";
import { ReplyProgress } from "./progress.tsx";
import { Reasoning } from "./reasoning.tsx";
import { LiveStats, Stats } from "./stats.tsx";
import { Versions } from "./versions.tsx";

const noStarts: readonly number[] = [];

/** A message may begin with reasoning, so a block's place is its identity. */
function Blocks({
  blocks,
  streaming,
  starts,
}: {
  blocks: readonly Block[];
  streaming: boolean;
  starts: readonly number[];
}) {
  return blocks.map((block, index) => {
    const open = streaming && index === blocks.length - 1;
    return block.type === "reasoning" ? (
      <Reasoning key={index} block={block} streaming={open} startedAt={starts[index] ?? null} />
    ) : (
      <Markdown key={index} text={block.text} streaming={open} />
    );
  });
}

const resumable: ReadonlySet<Message["status"]> = new Set(["stopped", "length", "interrupted"]);

const endings: Partial<Record<Message["status"], string>> = {
  stopped: "Stopped",
  length: "Ended at its limit",
  interrupted: "Interrupted",
};

/** Why a reply is not whole, and the way on. */
function Ending({ message }: { message: Message }) {
  const page = usePage();
  const words = endings[message.status];
  if (words === undefined && !message.error) return null;
  return (
    <>
      {message.error && words === undefined && (
        <ErrorCard error={message.error}>
          {message.status === "failed" && (
            <button
              type="button"
              className="button small"
              onClick={() => attempt(page, () => regenerate(page, message))}
            >
              <RefreshCw size={13} strokeWidth={1.75} aria-hidden="true" />
              Try again
            </button>
          )}
        </ErrorCard>
      )}
      {words !== undefined && (
        <div className={`ending ${message.status}`}>
          <Pause size={13} strokeWidth={1.75} aria-hidden="true" />
          <span>
            <b>{words}</b>
            {message.error && ` · ${message.error.message} ${message.error.hint}`}
          </span>
          {resumable.has(message.status) && (
            <button
              type="button"
              className="button small"
              onClick={() => attempt(page, () => continueReply(page, message))}
            >
              <Play size={12} strokeWidth={1.75} aria-hidden="true" />
              Continue
            </button>
          )}
        </div>
      )}
    </>
  );
}

/** One component before and after the end, so that what is drawn stays as it is when the reply finishes. */
export function AssistantMessage({ row, last }: { row: ConversationRow; last: boolean }) {
  const page = usePage();
  const { message } = row;
  const streaming = message.status === "streaming";
  const live = useLive((state) => (streaming ? state.replies.get(message.id) : undefined));
  const blocks = (streaming ? live?.blocks : undefined) ?? message.blocks;
  const copied = messageText(message);
  const waits = streaming && blocks.every((block) => block.text === "");
  return (
    <>
      {waits ? (
        <ReplyProgress progress={live?.progress ?? null} />
      ) : (
        <Blocks blocks={blocks} streaming={streaming} starts={live?.blockStarts ?? noStarts} />
      )}
      {!streaming && <Ending message={message} />}
      <div className={last ? "meta on" : "meta"}>
        <Versions row={row} />
        {live && live.tokens > 0 && <LiveStats tokens={live.tokens} tokensPerSecond={live.tokensPerSecond} />}
        {!streaming && message.stats && <Stats message={message} stats={message.stats} />}
        {!streaming && (
          <span className="actions">
            {copied !== "" && <CopyButton text={copied} />}
            <IconButton
              name="Regenerate"
              icon={RefreshCw}
              size={14}
              onClick={() => attempt(page, () => regenerate(page, message))}
            />
          </span>
        )}
      </div>
    </>
  );
}
