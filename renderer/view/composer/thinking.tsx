import { Brain } from "lucide-react";
import { attempt } from "../../command/command.ts";
import { chatModel } from "../../command/model.ts";
import { setSampling } from "../../command/session.ts";
import { levelName, planThinking } from "../../logic/thinking.ts";
import { useDocument, usePage, useUi } from "../page.ts";

/** Whether the model thinks before it answers, and how much; only what its template offers is shown. */
export function Thinking() {
  const page = usePage();
  const sessionId = useUi((state) => state.sessionId);
  const newChat = useUi((state) => state.newChat);
  const stored = useDocument((state) => (sessionId === null ? undefined : state.sessions.get(sessionId)?.sampling));
  const model = useDocument((state) => chatModel(state, { sessionId, newChat }));
  const plan = planThinking(model?.features ?? null, stored ?? newChat.sampling);
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
          Thinking
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
