import type { Message, MessageStats } from "../../../app/contract/message.ts";
import { formatCount } from "../../../app/number.ts";
import { formatNames } from "../../logic/format.ts";
import { formatDuration, formatRate, plural } from "../../logic/number.ts";
import { Hint } from "../control/button.tsx";

export function LiveStats({ tokens, tokensPerSecond }: { tokens: number; tokensPerSecond: number }) {
  return (
    <span className="stats">
      <span className="live">
        <span className="dot" aria-hidden="true" />
        {formatRate(tokensPerSecond)}
      </span>
      <span>{plural(tokens, "token")}</span>
    </span>
  );
}

/** Of one message, as stored with it; never those of another chat. */
export function Stats({ message, stats }: { message: Message; stats: MessageStats }) {
  const { modelName, responseFormat } = message;
  const detail = (
    <dl className="hint-table">
      {modelName !== null && <Row name="Model" value={modelName} />}
      <Row name="Prompt" value={plural(stats.promptTokens, "token")} />
      <Row name="Reused" value={plural(stats.reused, "token")} />
      <Row
        name="Computed"
        value={`${plural(stats.recomputed, "token")} in ${formatDuration(stats.prefillMilliseconds)}`}
      />
      <Row
        name="Reply"
        value={`${plural(stats.generatedTokens, "token")} in ${formatDuration(stats.decodeMilliseconds)}`}
      />
      {responseFormat !== undefined && <Row name="Format" value={formatNames[responseFormat.kind]} />}
      <Row name="Seed" value={String(stats.seed)} />
    </dl>
  );
  return (
    <Hint text={detail}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: its tooltip holds more numbers */}
      <span className="stats" tabIndex={0} role="note" aria-label="Statistics">
        <span>{formatRate(stats.tokensPerSecond)}</span>
        <span>first token {formatDuration(stats.firstTokenMilliseconds)}</span>
        <span>
          reused {formatCount(stats.reused)} · new {formatCount(stats.recomputed)}
        </span>
        <span>{plural(stats.generatedTokens, "token")}</span>
      </span>
    </Hint>
  );
}

function Row({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
