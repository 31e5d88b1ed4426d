import { chatModel } from "../../command/model.ts";
import { useDocument, usePage, useUi } from "../../store/page.ts";
import { draftOf, serial, setDraft } from "../../store/ui.ts";

const openings = [
  "Explain how a heat pump works, without formulas.",
  "Write a short, friendly email that declines a meeting.",
  "What should I check before buying a used bicycle?",
  "Turn these notes into a list with priorities:",
] as const;

export function EmptyChat() {
  const page = usePage();
  const sessionId = useUi((state) => state.sessionId);
  const newChat = useUi((state) => state.newChat);
  const empty = useUi((state) => draftOf(state).text === "");
  const ready = useDocument((state) => state.ready);
  const model = useDocument((state) => chatModel(state, { sessionId, newChat }));
  if (!ready) return <div className="scroll" />;
  return (
    <div className="scroll empty-chat">
      <div className="column">
        <h2>What is on your mind?</h2>
        <p className="quiet">{model ? `${model.name} answers on this machine. ` : ""}Nothing you write leaves it.</p>
        <ul className={empty ? "openings" : "openings gone"}>
          {openings.map((opening) => (
            <li key={opening}>
              <button
                type="button"
                onClick={() => {
                  setDraft(page.ui, sessionId, { text: opening, attachments: draftOf(page.ui.getState()).attachments });
                  page.ui.setState({ focusSerial: serial() });
                }}
              >
                {opening}
              </button>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
