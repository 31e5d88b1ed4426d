import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createPace } from "../../../../main/chat/pace.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a pace", () => {
  it("runs at once, then at most once in each interval, and never forgets the last", () => {
    const run = vi.fn();
    const pace = createPace(100, run);
    for (let i = 0; i < 5; i++) pace.due();
    expect(run).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(99);
    expect(run).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(1000);
    expect(run).toHaveBeenCalledTimes(2);
    pace.due();
    expect(run).toHaveBeenCalledTimes(3);
  });

  it("can be made to do now what is due, and only that", () => {
    const run = vi.fn();
    const pace = createPace(100, run);
    pace.flush();
    expect(run).not.toHaveBeenCalled();
    pace.due();
    pace.due();
    pace.flush();
    expect(run).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(1000);
    expect(run).toHaveBeenCalledTimes(2);
  });

  it("forgets what is due when it is cancelled", () => {
    const run = vi.fn();
    const pace = createPace(100, run);
    pace.due();
    pace.due();
    pace.cancel();
    vi.advanceTimersByTime(1000);
    expect(run).toHaveBeenCalledTimes(1);
  });
});
