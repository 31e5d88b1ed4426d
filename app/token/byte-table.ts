/** A hash table from byte strings to ids, over one shared byte store: a quarter of a million entries cost no string object each. */
export interface ByteTable {
  /** The id of `source[start..end]`, or -1. */
  find(source: Uint8Array, start: number, end: number): number;
  /** Adds store[start..end] under `id` unless an equal string is there; returns the id it has now. */
  add(start: number, end: number, id: number): number;
}

/** `capacity` is the most entries it will hold. */
export function createByteTable(store: Uint8Array, capacity: number): ByteTable {
  let size = 16;
  while (size < capacity * 2) size *= 2;
  const mask = size - 1;
  const starts = new Int32Array(size);
  const ends = new Int32Array(size);
  const ids = new Int32Array(size).fill(-1);

  /** The slot that holds the string, or the free slot where it belongs. */
  const slotOf = (source: Uint8Array, start: number, end: number): number => {
    let hash = 0x811c9dc5;
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ (source[i] as number), 0x01000193);
    hash ^= hash >>> 15;
    const length = end - start;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      if ((ids[slot] as number) < 0) return slot;
      const from = starts[slot] as number;
      if ((ends[slot] as number) - from !== length) continue;
      let i = 0;
      while (i < length && store[from + i] === source[start + i]) i++;
      if (i === length) return slot;
    }
  };

  return {
    find: (source, start, end) => ids[slotOf(source, start, end)] as number,
    add: (start, end, id) => {
      const slot = slotOf(store, start, end);
      if ((ids[slot] as number) >= 0) return ids[slot] as number;
      starts[slot] = start;
      ends[slot] = end;
      ids[slot] = id;
      return id;
    },
  };
}
