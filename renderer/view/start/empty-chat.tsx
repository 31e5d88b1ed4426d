import { draftOf, serial, setDraft } from "../../store/ui.ts";
import { useChatModel } from "../chosen.ts";
import { useDocument, usePage, useUi } from "../page.ts";

/** What the button says, and what it writes. */
const openings = [
  ["How does a heat pump work?", "Explain how a heat pump works, without formulas."],
  ["Decline a meeting, kindly", "Write a short, friendly email that declines a meeting."],
  ["What to check on a used bicycle", "What should I check before buying a used bicycle?"],
  ["Turn notes into a list", "Turn these notes into a list with priorities:\n"],
] as const;

export function EmptyChat() {
  const page = usePage();
  const sessionId = useUi((state) => state.sessionId);
  const empty = useUi((state) => draftOf(state).text === "");
  const ready = useDocument((state) => state.ready);
  const model = useChatModel();
  if (!ready) return <div className="scroll" />;
  return (
    <div className="scroll empty-chat">
      <div className="column">
        <h2>What is on your mind?</h2>
        <p className="quiet">{model ? `${model.name} answers on this machine. ` : ""}Nothing you write leaves it.</p>
        <ul className={empty ? "openings" : "openings gone"}>
          {openings.map(([label, text]) => (
            <li key={label}>
              <button
                type="button"
                onClick={() => {
                  setDraft(page.ui, sessionId, { text, attachments: draftOf(page.ui.getState()).attachments });
                  page.ui.setState({ focusSerial: serial() });
                }}
              >
                {label}
              </button>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
