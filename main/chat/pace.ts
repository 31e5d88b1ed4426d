/** Runs something at once and then at most once in each interval, and never forgets the last time. */
export interface Pace {
  /** There is something to do: now, or when the interval is over. */
  due(): void;
  /** Does now what is due. */
  flush(): void;
  /** Forgets what is due. */
  cancel(): void;
}

export function createPace(milliseconds: number, run: () => void): Pace {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let waiting = false;
  const fire = (): void => {
    waiting = false;
    timer = setTimeout(() => {
      timer = null;
      if (waiting) fire();
    }, milliseconds);
    run();
  };
  return {
    due: () => {
      waiting = true;
      if (timer === null) fire();
    },
    flush: () => {
      if (!waiting) return;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      waiting = false;
      run();
    },
    cancel: () => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      waiting = false;
    },
  };
}
