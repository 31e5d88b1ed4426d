/**
 * Search over titles and message text. FTS5 trigrams name the candidates (so CJK and parts of words are found alike), the text itself confirms
 * them. Terms of one or two characters have no trigram: then messages are read newest first until enough are found.
 */
import type { SearchHit } from "../../app/contract/session.ts";
import type { Database } from "./database.ts";
import { excerpt, parseQuery, trigramExpression } from "./query.ts";
import { type SessionRow, toCount, toSession } from "./row.ts";

interface CandidateRow {
  number: number;
  id: string;
  session: string;
  created_at: unknown;
}

const defaultLimit = 50;

export function createSearch(
  database: Database,
  listSessions: { all(): SessionRow[] },
): (query: string, limit?: number) => SearchHit[] {
  const columns =
    "m.number, m.id, m.session, m.created_at FROM message m JOIN session s ON s.id = m.session AND s.deleted_at IS NULL";
  const indexed = database.prepare<[string], CandidateRow>(
    `SELECT ${columns} WHERE m.status = 'streaming' OR m.number IN (SELECT rowid FROM message_text WHERE message_text MATCH ?) ORDER BY m.number DESC`,
  );
  const every = database.prepare<[], CandidateRow>(`SELECT ${columns} ORDER BY m.number DESC`);
  const textOf = createTextOf(database);

  return (query, limit = defaultLimit) => {
    const terms = parseQuery(query);
    if (terms.length === 0) return [];
    const sessions = listSessions.all().map(toSession);
    const hits: SearchHit[] = [];
    for (const session of [...sessions].sort((a, b) => b.updatedAt - a.updatedAt)) {
      const found = excerpt(session.title, terms);
      if (found !== null && hits.length < limit) {
        hits.push({
          sessionId: session.id,
          sessionTitle: session.title,
          messageId: null,
          ...found,
          updatedAt: session.updatedAt,
        });
      }
    }
    const titles = new Map(sessions.map((session) => [session.id, session.title]));
    const expressions = terms.map(trigramExpression).filter((expression) => expression !== null);
    const candidates = expressions.length > 0 ? indexed.all(expressions.join(" AND ")) : every.all();
    for (const candidate of candidates) {
      if (hits.length >= limit) break;
      const found = excerpt(textOf(candidate.number), terms);
      if (found === null) continue;
      const sessionTitle = titles.get(candidate.session) ?? "";
      hits.push({
        sessionId: candidate.session,
        sessionTitle,
        messageId: candidate.id,
        ...found,
        updatedAt: toCount(candidate.created_at),
      });
    }
    return hits;
  };
}

/** The searchable text of a message: its blocks, one after another, with a blank line between. */
export function createTextOf(database: Database): (messageNumber: number) => string {
  const pieces = database.prepare<[number], { position: number; text: string }>(
    "SELECT b.position, p.text FROM block b JOIN piece p ON p.block = b.number WHERE b.message = ? ORDER BY b.position, p.number",
  );
  return (messageNumber) => {
    let text = "";
    let position: number | null = null;
    for (const piece of pieces.all(messageNumber)) {
      if (position !== null && piece.position !== position) text += "\n\n";
      text += piece.text;
      position = piece.position;
    }
    return text;
  };
}
