import type { Session } from "../../app/contract/session.ts";

export type GroupName = "Pinned" | "Today" | "Yesterday" | "This week" | "Older";

export interface SessionGroup {
  name: GroupName;
  sessions: Session[];
}

const groupOrder: readonly GroupName[] = ["Pinned", "Today", "Yesterday", "This week", "Older"];

/** Local midnight `days` before the day of `now`; calendar days, so that a clock change does not move a chat. */
function midnight(now: Date, days: number): number {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - days).getTime();
}

function groupOf(session: Session, now: Date): GroupName {
  if (session.pinned) return "Pinned";
  if (session.updatedAt >= midnight(now, 0)) return "Today";
  if (session.updatedAt >= midnight(now, 1)) return "Yesterday";
  if (session.updatedAt >= midnight(now, 6)) return "This week";
  return "Older";
}

/** Newest first in each group; empty groups are left out. */
export function groupSessions(sessions: Iterable<Session>, now: Date): SessionGroup[] {
  const groups = new Map<GroupName, Session[]>();
  for (const session of sessions) {
    const name = groupOf(session, now);
    const members = groups.get(name);
    if (members) members.push(session);
    else groups.set(name, [session]);
  }
  const result: SessionGroup[] = [];
  for (const name of groupOrder) {
    const members = groups.get(name);
    if (!members) continue;
    members.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1));
    result.push({ name, sessions: members });
  }
  return result;
}

/** "09:12" today, "Sat" within the week, "12 Nov" in the year, "12 Nov 2024" before. */
export function shortTime(timestamp: number, now: Date): string {
  const date = new Date(timestamp);
  if (timestamp >= midnight(now, 0)) {
    return `${String(date.getHours()).padStart(2, "0")}:${String(date.getMinutes()).padStart(2, "0")}`;
  }
  if (timestamp >= midnight(now, 6)) return date.toLocaleDateString("en-GB", { weekday: "short" });
  const sameYear = date.getFullYear() === now.getFullYear();
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", ...(sameYear ? {} : { year: "numeric" }) });
}
