/** A hash table from byte strings to ids, over one shared byte store: a quarter of a million entries cost no string object each. */
export interface ByteTable {
  /** The id of `source[start..end]`, or -1. */
  find(source: Uint8Array, start: number, end: number): number;
  /** Adds store[start..end] under `id` unless an equal string is there; returns the id it has now. */
  add(start: number, end: number, id: number): number;
}

/** A slot is [hash, start, end, id + 1] side by side, so that a look touches one cache line; 0 in the last place is a free slot. */
const width = 4;
/** The most of its slots that a table uses. */
const fill = 0.75;

/** `capacity` is how many entries are expected; it grows when there are more. */
export function createByteTable(store: Uint8Array, capacity: number): ByteTable {
  let size = 16;
  while (size * fill < capacity) size *= 2;
  let slots = new Int32Array(size * width);
  let count = 0;

  const hashOf = (source: Uint8Array, start: number, end: number): number => {
    let hash = 0x811c9dc5;
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ (source[i] as number), 0x01000193);
    return hash ^ (hash >>> 15);
  };

  /** Where the string is, or the free slot where it belongs. */
  const slotOf = (source: Uint8Array, start: number, end: number, hash: number): number => {
    const mask = size * width - 1;
    const length = end - start;
    for (let at = (hash * width) & mask; ; at = (at + width) & mask) {
      if (slots[at + 3] === 0) return at;
      if (slots[at] !== hash) continue;
      const from = slots[at + 1] as number;
      if ((slots[at + 2] as number) - from !== length) continue;
      let i = 0;
      while (i < length && store[from + i] === source[start + i]) i++;
      if (i === length) return at;
    }
  };

  const grow = (): void => {
    const old = slots;
    size *= 2;
    slots = new Int32Array(size * width);
    for (let from = 0; from < old.length; from += width) {
      if (old[from + 3] === 0) continue;
      const at = slotOf(store, old[from + 1] as number, old[from + 2] as number, old[from] as number);
      slots.set(old.subarray(from, from + width), at);
    }
  };

  return {
    find: (source, start, end) => (slots[slotOf(source, start, end, hashOf(source, start, end)) + 3] as number) - 1,
    add: (start, end, id) => {
      const hash = hashOf(store, start, end);
      const at = slotOf(store, start, end, hash);
      const known = slots[at + 3] as number;
      if (known !== 0) return known - 1;
      slots[at] = hash;
      slots[at + 1] = start;
      slots[at + 2] = end;
      slots[at + 3] = id + 1;
      if (++count > size * fill) grow();
      return id;
    },
  };
}
