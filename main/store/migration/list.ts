import { initial } from "./0001-initial.ts";
import { format } from "./0002-format.ts";

/** One step of the schema. A step that has been released never changes: a correction is a new step. */
export interface Migration {
  /** 1, 2, 3, … without gaps; the database's user_version after it. */
  version: number;
  name: string;
  /** Runs in one transaction, with foreign keys unchecked until its end. */
  sql: string;
}

export const migrations: readonly Migration[] = [initial, format];
