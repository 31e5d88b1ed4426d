import type { Port } from "./wire.ts";

export interface ProcessExit {
  code: number | null;
  signal: string | null;
  /** The end of what it wrote to standard error; "" where that is not captured. */
  stderr: string;
}

/** An engine process as host.ts sees it; made by spawn.ts (Node) or main/electron (utility process). */
export interface EngineProcess extends Port {
  /** null before it runs and when it could not be started. */
  readonly pid: number | null;
  /** Called once, also when it could not be started; then nothing more arrives. */
  onExit(handler: (exit: ProcessExit) => void): void;
  /** At once and whatever it does. Harmless when it is gone. */
  kill(): void;
}

export type SpawnEngine = () => EngineProcess;

/** Timers as the host uses them; tests pass their own. */
export interface EngineClock {
  /** Milliseconds, only differences count. */
  now(): number;
  /** Returns what takes it back. */
  after(milliseconds: number, action: () => void): () => void;
}

export const systemClock: EngineClock = {
  now: () => Date.now(),
  after(milliseconds, action) {
    const timer = setTimeout(action, milliseconds);
    return () => clearTimeout(timer);
  },
};
