/** Bytes per second over the last few seconds; falls to 0 when nothing arrives. */
export interface SpeedMeter {
  add(received: number): void;
  bytesPerSecond(): number;
  reset(): void;
}

const windowMilliseconds = 3000;

export function createSpeedMeter(clock: () => number): SpeedMeter {
  let samples: { time: number; received: number }[] = [];
  return {
    add(received) {
      const time = clock();
      const last = samples[samples.length - 1];
      // A transfer that starts over counts from there.
      if (last !== undefined && received < last.received) samples = [];
      if (last !== undefined && time - last.time < 50 && samples.length > 1) last.received = received;
      else samples.push({ time, received });
    },
    bytesPerSecond() {
      const now = clock();
      while (samples.length > 1 && (samples[1]?.time ?? now) <= now - windowMilliseconds) samples.shift();
      const first = samples[0];
      const last = samples[samples.length - 1];
      if (first === undefined || last === undefined || last.received === first.received) return 0;
      const from = Math.max(first.time, now - windowMilliseconds);
      return ((last.received - first.received) * 1000) / Math.max(now - from, 250);
    },
    reset() {
      samples = [];
    },
  };
}
