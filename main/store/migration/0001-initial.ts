import type { Migration } from "./list.ts";

/**
 * The text of a block is the concatenation of its pieces, so that a flush of a streaming reply appends one row, however long the reply is.
 * `message_text` indexes folded text (fold.ts) in parts (indexer.ts) and holds no copy of it; `unindexed` is what it still lacks.
 */
export const initial: Migration = {
  version: 1,
  name: "initial",
  sql: `
    CREATE TABLE session (
      id TEXT PRIMARY KEY NOT NULL,
      title TEXT NOT NULL,
      titled INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      pinned INTEGER NOT NULL DEFAULT 0,
      system TEXT NOT NULL DEFAULT '',
      model_id TEXT,
      sampling TEXT NOT NULL DEFAULT '{}',
      deleted_at INTEGER
    );

    CREATE TABLE message (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
      parent TEXT,
      role TEXT NOT NULL,
      status TEXT NOT NULL,
      error TEXT,
      created_at INTEGER NOT NULL,
      model_id TEXT,
      model_name TEXT,
      stats TEXT,
      UNIQUE (session, id),
      FOREIGN KEY (session, parent) REFERENCES message (session, id) ON DELETE CASCADE
    );
    CREATE INDEX message_parent ON message (session, parent);
    CREATE INDEX message_unfinished ON message (status) WHERE status IN ('streaming', 'interrupted');

    CREATE TABLE block (
      number INTEGER PRIMARY KEY,
      message INTEGER NOT NULL REFERENCES message (number) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      type TEXT NOT NULL,
      attributes TEXT NOT NULL DEFAULT '{}',
      UNIQUE (message, position)
    );

    CREATE TABLE piece (
      number INTEGER PRIMARY KEY,
      block INTEGER NOT NULL REFERENCES block (number) ON DELETE CASCADE,
      text TEXT NOT NULL
    );
    CREATE INDEX piece_block ON piece (block);

    CREATE TABLE head (
      session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      message TEXT NOT NULL,
      PRIMARY KEY (session, name),
      FOREIGN KEY (session, message) REFERENCES message (session, id) ON DELETE CASCADE
    ) WITHOUT ROWID;

    CREATE TABLE setting (
      key TEXT PRIMARY KEY NOT NULL,
      value TEXT NOT NULL
    ) WITHOUT ROWID;

    CREATE TABLE unindexed (
      message INTEGER PRIMARY KEY REFERENCES message (number) ON DELETE CASCADE,
      part INTEGER NOT NULL DEFAULT 0
    );

    CREATE VIRTUAL TABLE message_text USING fts5 (
      text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1'
    );
  `,
};
