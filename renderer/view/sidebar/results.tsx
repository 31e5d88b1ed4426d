// biome-ignore-all lint/suspicious/noArrayIndexKey: a new search makes a new list
import type { SearchHit } from "../../../app/contract/session.ts";
import { attempt } from "../../command/command.ts";
import { openHit } from "../../command/session.ts";
import { markPieces } from "../../logic/excerpt.ts";
import { shortTime } from "../../logic/group.ts";
import { plural } from "../../logic/number.ts";
import { usePage } from "../page.ts";
import { moveFocus } from "./move-focus.ts";

function Marked({ hit }: { hit: SearchHit }) {
  return markPieces(hit.snippet, hit.matches).map((piece, index) =>
    piece.marked ? <mark key={index}>{piece.text}</mark> : <span key={index}>{piece.text}</span>,
  );
}

function Result({ hit, now }: { hit: SearchHit; now: Date }) {
  const page = usePage();
  return (
    <li>
      <button type="button" className="result" onClick={() => attempt(page, () => openHit(page, hit))}>
        <span className="result-head">
          <span className="result-title">{hit.messageId === null ? <Marked hit={hit} /> : hit.sessionTitle}</span>
          <small>{shortTime(hit.updatedAt, now)}</small>
        </span>
        {hit.messageId !== null && (
          <span className="result-snippet">
            <Marked hit={hit} />
          </span>
        )}
      </button>
    </li>
  );
}

export function SearchResults({ hits }: { hits: readonly SearchHit[] }) {
  const now = new Date();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrow keys between the buttons inside
    <div className="side-list" onKeyDown={moveFocus}>
      <div className="group" role="status">
        {hits.length === 0 ? "Nothing found" : plural(hits.length, "result")}
      </div>
      {hits.length === 0 && <p className="side-note">Titles and all messages of all branches were searched.</p>}
      <ul className="results">
        {hits.map((hit, index) => (
          <Result key={`${hit.sessionId} ${hit.messageId ?? ""} ${index}`} hit={hit} now={now} />
        ))}
      </ul>
    </div>
  );
}
