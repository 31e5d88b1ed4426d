/**
 * Search over titles and message text. FTS5 trigrams name the candidates (so CJK and parts of words are found alike), the text itself confirms
 * them. A shorter term stands for the trigrams that begin with it; when those are many, the term is common and reading newest first is quick.
 */
import type { SearchHit } from "../../app/contract/session.ts";
import type { Database } from "./database.ts";
import { messageOfRow } from "./indexer.ts";
import { excerpt, isShort, parseQuery, quoted, trigramsOf } from "./query.ts";
import { type SessionRow, toCount, toSession } from "./row.ts";

interface CandidateRow {
  number: number;
  id: string;
  session: string;
  created_at: unknown;
}

const defaultLimit = 50;
/** More trigrams than this for a short term are not worth an expression. */
const mostAlternatives = 200;

export type Search = (query: string, limit?: number) => SearchHit[];

export function createSearch(database: Database, listSessions: { all(): SessionRow[] }): Search {
  database.exec("CREATE VIRTUAL TABLE temp.message_trigram USING fts5vocab (main, message_text, row)");
  const columns =
    "m.number, m.id, m.session, m.created_at FROM message m JOIN session s ON s.id = m.session AND s.deleted_at IS NULL";
  const notIndexed = "m.status = 'streaming' OR m.number IN (SELECT message FROM unindexed)";
  const unfinished = database.prepare<[], CandidateRow>(`SELECT ${columns} WHERE ${notIndexed} ORDER BY m.number DESC`);
  /** Terms may lie in different parts of a message, so each is looked up by itself. */
  const indexed = (expressions: string[]): CandidateRow[] => {
    const one = `m.number IN (SELECT ${messageOfRow} FROM message_text WHERE message_text MATCH ?)`;
    const all = expressions.map(() => one).join(" AND ");
    return database
      .prepare<string[], CandidateRow>(`SELECT ${columns} WHERE ${notIndexed} OR (${all}) ORDER BY m.number DESC`)
      .all(...expressions);
  };
  const every = database.prepare<[], CandidateRow>(`SELECT ${columns} ORDER BY m.number DESC`);
  const trigramsFrom = database
    .prepare<[string, string, number], string>(
      "SELECT term FROM message_trigram WHERE term >= ? AND term < ? ORDER BY term LIMIT ?",
    )
    .pluck();
  const textOf = createTextOf(database);

  /** What every text that holds the term satisfies: an expression, or that nothing does, or that too much might. */
  function narrow(term: string): string | "nothing" | "anything" {
    if (!isShort(term)) return trigramsOf(term).map(quoted).join(" AND ");
    const found = trigramsFrom.all(term, `${term}\u{10ffff}`, mostAlternatives + 1) as string[];
    if (found.length === 0) return "nothing";
    return found.length > mostAlternatives ? "anything" : `(${found.map(quoted).join(" OR ")})`;
  }

  function candidates(terms: string[]): CandidateRow[] {
    const narrowed = terms.map(narrow);
    if (narrowed.includes("nothing")) return unfinished.all();
    const expressions = narrowed.filter((expression) => expression !== "anything");
    return expressions.length > 0 ? indexed(expressions) : every.all();
  }

  return (query, limit = defaultLimit) => {
    const terms = parseQuery(query);
    if (terms.length === 0) return [];
    const sessions = listSessions.all().map(toSession);
    const hits: SearchHit[] = [];
    for (const { id, title, updatedAt } of [...sessions].sort((a, b) => b.updatedAt - a.updatedAt)) {
      const found = excerpt(title, terms);
      if (found === null || hits.length >= limit) continue;
      hits.push({ sessionId: id, sessionTitle: title, messageId: null, ...found, updatedAt });
    }
    if (hits.length >= limit) return hits;
    const titles = new Map(sessions.map((session) => [session.id, session.title]));
    for (const { number, id, session, created_at } of candidates(terms)) {
      const found = excerpt(textOf(number), terms);
      if (found === null) continue;
      const sessionTitle = titles.get(session) ?? "";
      hits.push({ sessionId: session, sessionTitle, messageId: id, ...found, updatedAt: toCount(created_at) });
      if (hits.length >= limit) break;
    }
    return hits;
  };
}

/** The searchable text of a message: its blocks, one after another, with a blank line between. */
export function createTextOf(database: Database): (messageNumber: number) => string {
  const pieces = database.prepare<[number], { position: number; text: unknown }>(
    "SELECT b.position, p.text FROM block b JOIN piece p ON p.block = b.number WHERE b.message = ? ORDER BY b.position, p.number",
  );
  return (messageNumber) => {
    let text = "";
    let position: number | null = null;
    for (const piece of pieces.all(messageNumber)) {
      if (position !== null && piece.position !== position) text += "\n\n";
      if (typeof piece.text === "string") text += piece.text;
      position = piece.position;
    }
    return text;
  };
}
