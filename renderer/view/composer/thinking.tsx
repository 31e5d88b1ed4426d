import { Brain, History } from "lucide-react";
import { attempt } from "../../command/command.ts";
import { setSampling } from "../../command/session.ts";
import { levelName, planPastThoughts, planThinking } from "../../logic/thinking.ts";
import { useChatModel, useChatSampling } from "../chosen.ts";
import { Hint } from "../control/button.tsx";
import { usePage } from "../page.ts";

/** Whether the model thinks before it answers, and how much; only what its template offers is shown. */
export function Thinking() {
  const options = useChatSampling();
  const features = useChatModel()?.features ?? null;
  return (
    <>
      <ThinkingChoice plan={planThinking(features, options)} />
      <PastThoughts plan={planPastThoughts(features, options)} />
    </>
  );
}

function PastThoughts({ plan }: { plan: ReturnType<typeof planPastThoughts> }) {
  const page = usePage();
  if (plan === null) return null;
  const about = plan.kept
    ? "The model sees what it thought in its earlier replies. This takes more of the context."
    : "The model does not see what it thought in its earlier replies.";
  return (
    <Hint text={about}>
      <button
        type="button"
        className={plan.kept ? "chip keep on" : "chip keep"}
        aria-pressed={plan.kept}
        onClick={() => attempt(page, () => setSampling(page, { keepThoughts: !plan.kept }))}
      >
        <History size={13} strokeWidth={1.75} aria-hidden="true" />
        <span className="chip-label middle">Keep thoughts</span>
      </button>
    </Hint>
  );
}

function ThinkingChoice({ plan }: { plan: ReturnType<typeof planThinking> }) {
  const page = usePage();
  if (plan === null) return null;
  const icon = <Brain size={13} strokeWidth={1.75} aria-hidden="true" />;
  const { effort } = plan;
  return (
    <>
      {plan.control === "fixed" ? (
        <span className="chip still" title="This model always thinks: its chat template has no switch for it.">
          {icon}
          <span className="chip-text">Always thinks</span>
        </span>
      ) : (
        <button
          type="button"
          className={plan.on ? "chip on" : "chip"}
          aria-pressed={plan.on}
          title={plan.on ? "The model thinks before it answers." : "The model answers at once."}
          onClick={() => attempt(page, () => setSampling(page, { thinking: !plan.on }))}
        >
          {icon}
          <span className="chip-label last">Thinking</span>
        </button>
      )}
      {effort !== null && (
        <label className="chip effort">
          <span className="unseen">Thinking effort</span>
          <select
            value={effort.chosen}
            onChange={(event) =>
              attempt(page, () => setSampling(page, { effort: event.target.value === "" ? null : event.target.value }))
            }
          >
            <option value="">{effort.initial === "" ? "Usual effort" : `${levelName(effort.initial)} effort`}</option>
            {effort.levels
              .filter((level) => level !== effort.initial)
              .map((level) => (
                <option key={level} value={level}>
                  {levelName(level)} effort
                </option>
              ))}
          </select>
        </label>
      )}
    </>
  );
}
