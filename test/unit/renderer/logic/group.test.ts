import { describe, expect, test } from "vitest";
import { noSampling, type Session } from "../../../../app/contract/session.ts";
import { groupSessions, shortTime } from "../../../../renderer/logic/group.ts";

const now = new Date(2026, 10, 30, 9, 30);

function session(id: string, updatedAt: Date, pinned = false): Session {
  const at = updatedAt.getTime();
  const rest = {
    titled: true,
    createdAt: at,
    system: "",
    modelId: null,
    sampling: noSampling,
    headId: null,
    messageCount: 0,
  };
  return { id, title: id, updatedAt: at, pinned, ...rest };
}

describe("sessions by date", () => {
  test("calendar days decide, not hours; pinned stand alone; newest first", () => {
    const groups = groupSessions(
      [
        session("late yesterday", new Date(2026, 10, 29, 23, 59)),
        session("old and pinned", new Date(2020, 0, 1), true),
        session("midnight", new Date(2026, 10, 30, 0, 0)),
        session("now", now),
        session("six days ago", new Date(2026, 10, 24, 0, 0)),
        session("seven days ago", new Date(2026, 10, 23, 23, 59)),
      ],
      now,
    );
    expect(groups.map((group) => [group.name, group.sessions.map((one) => one.id)])).toEqual([
      ["Pinned", ["old and pinned"]],
      ["Today", ["now", "midnight"]],
      ["Yesterday", ["late yesterday"]],
      ["This week", ["six days ago"]],
      ["Older", ["seven days ago"]],
    ]);
  });

  test("no sessions, no groups", () => expect(groupSessions([], now)).toEqual([]));

  test("short times", () => {
    expect(shortTime(new Date(2026, 10, 30, 9, 5).getTime(), now)).toBe("09:05");
    expect(shortTime(new Date(2026, 10, 28, 9, 5).getTime(), now)).toBe("Sat");
    expect(shortTime(new Date(2026, 2, 1).getTime(), now)).toBe("1 Mar");
    expect(shortTime(new Date(2024, 2, 1).getTime(), now)).toBe("1 Mar 2024");
  });
});
