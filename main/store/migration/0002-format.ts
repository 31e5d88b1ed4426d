import type { Migration } from "./list.ts";

/** What a reply was held to, and the replies to a question are: JSON, null for nothing. */
export const format: Migration = {
  version: 2,
  name: "format",
  sql: "ALTER TABLE message ADD COLUMN format TEXT;",
};
