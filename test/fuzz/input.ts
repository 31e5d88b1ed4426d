/** A fuzzer's bytes read as choices and texts; when they run out, zeros and empty texts follow. */

export class Input {
  private at = 0;
  private readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get left(): number {
    return Math.max(0, this.bytes.length - this.at);
  }

  byte(): number {
    return this.bytes[this.at++] ?? 0;
  }

  /** 0 to `limit` - 1. */
  below(limit: number): number {
    return this.byte() % limit;
  }

  pick<T>(list: readonly [T, ...T[]]): T {
    return list[this.below(Math.min(256, list.length))] ?? list[0];
  }

  /** Up to `most` bytes. */
  take(most: number): Uint8Array {
    const part = this.bytes.subarray(this.at, this.at + most);
    this.at += part.length;
    return part;
  }

  /** Up to `most` bytes as text: UTF-8, or UTF-16 units where lone surrogates can stand. */
  text(most: number): string {
    const wide = this.below(4) === 0;
    return Buffer.from(this.take(most)).toString(wide ? "utf16le" : "utf8");
  }
}

/** Stops the fuzzer: what it was given must not lead here. */
export function demand(condition: boolean, words: string): asserts condition {
  if (!condition) throw new Error(`WRONG: ${words}`);
}

/** Runs `body` and returns its outcome, or null when it refused with an error of ours that says something. */
export function refusing<T>(body: () => T): T | null {
  try {
    return body();
  } catch (error) {
    const { name, code, message } = error as { name?: string; code?: string; message?: string };
    if (name !== "HalogenError") throw error;
    demand(code !== "internal" && message !== undefined && message !== "", `an error says nothing: ${code}`);
    return null;
  }
}
