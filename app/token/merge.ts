/**
 * The merge loop that both kinds of BPE share: symbols in a row, the best adjacent pair is joined again and again, leftmost on ties.
 * A heap over a linked list keeps it at n log n, so a megabyte of one letter costs no more than a megabyte of prose.
 */

export interface Joiner {
  /** Priority of joining `left` and `right`: smaller is earlier; Infinity = not joinable. */
  priority(left: number, right: number): number;
  /** The symbol they make. */
  join(left: number, right: number): number;
}

/** Joins `symbols` in place and returns how many are left at the front. */
export function mergeSymbols(symbols: Int32Array, count: number, joiner: Joiner): number {
  return count <= 24 ? mergeShort(symbols, count, joiner) : mergeLong(symbols, count, joiner);
}

/** Scans for the best pair; the fastest way for words. */
function mergeShort(symbols: Int32Array, count: number, joiner: Joiner): number {
  let left = count;
  while (left > 1) {
    let best = Number.POSITIVE_INFINITY;
    let at = -1;
    for (let i = 0; i + 1 < left; i++) {
      const priority = joiner.priority(symbols[i] as number, symbols[i + 1] as number);
      if (priority < best) {
        best = priority;
        at = i;
      }
    }
    if (at < 0) break;
    symbols[at] = joiner.join(symbols[at] as number, symbols[at + 1] as number);
    symbols.copyWithin(at + 1, at + 2, left);
    left--;
  }
  return left;
}

function mergeLong(symbols: Int32Array, count: number, joiner: Joiner): number {
  const next = new Int32Array(count);
  const previous = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    next[i] = i + 1 < count ? i + 1 : -1;
    previous[i] = i - 1;
  }
  const heap = createPairHeap(count);
  const offer = (at: number): void => {
    const behind = at < 0 ? -1 : (next[at] as number);
    if (behind < 0) return;
    const left = symbols[at] as number;
    const right = symbols[behind] as number;
    const priority = joiner.priority(left, right);
    if (priority !== Number.POSITIVE_INFINITY) heap.push(priority, at, left, right);
  };
  for (let i = 0; i + 1 < count; i++) offer(i);
  while (heap.pop()) {
    const at = heap.at;
    const behind = next[at] as number;
    // An entry whose symbols have been joined with others since is stale.
    if (behind < 0 || symbols[at] !== heap.left || symbols[behind] !== heap.right) continue;
    symbols[at] = joiner.join(heap.left, heap.right);
    symbols[behind] = -1;
    const after = next[behind] as number;
    next[at] = after;
    if (after >= 0) previous[after] = at;
    offer(previous[at] as number);
    offer(at);
  }
  let left = 0;
  for (let i = 0; i >= 0 && i < count; i = next[i] as number) symbols[left++] = symbols[i] as number;
  return left;
}

interface PairHeap {
  push(priority: number, at: number, left: number, right: number): void;
  /** Takes the best entry into `at`, `left`, `right`; false when empty. */
  pop(): boolean;
  at: number;
  left: number;
  right: number;
}

/** A binary min-heap by (priority, at); its arrays grow as needed. */
function createPairHeap(capacity: number): PairHeap {
  let priorities = new Float64Array(capacity);
  let fields = new Int32Array(capacity * 3);
  let size = 0;

  const before = (a: number, b: number): boolean => {
    const first = priorities[a] as number;
    const second = priorities[b] as number;
    return first < second || (first === second && (fields[a * 3] as number) < (fields[b * 3] as number));
  };
  const swap = (a: number, b: number): void => {
    const priority = priorities[a] as number;
    priorities[a] = priorities[b] as number;
    priorities[b] = priority;
    for (let i = 0; i < 3; i++) {
      const field = fields[a * 3 + i] as number;
      fields[a * 3 + i] = fields[b * 3 + i] as number;
      fields[b * 3 + i] = field;
    }
  };

  const heap: PairHeap = {
    at: 0,
    left: 0,
    right: 0,
    push: (priority, at, left, right) => {
      if (size === priorities.length) {
        const wider = new Float64Array(size * 2);
        wider.set(priorities);
        priorities = wider;
        const more = new Int32Array(size * 6);
        more.set(fields);
        fields = more;
      }
      priorities[size] = priority;
      fields[size * 3] = at;
      fields[size * 3 + 1] = left;
      fields[size * 3 + 2] = right;
      let child = size++;
      while (child > 0) {
        const parent = (child - 1) >> 1;
        if (!before(child, parent)) break;
        swap(child, parent);
        child = parent;
      }
    },
    pop: () => {
      if (size === 0) return false;
      heap.at = fields[0] as number;
      heap.left = fields[1] as number;
      heap.right = fields[2] as number;
      swap(0, --size);
      for (let parent = 0; ; ) {
        const first = parent * 2 + 1;
        if (first >= size) break;
        const child = first + 1 < size && before(first + 1, first) ? first + 1 : first;
        if (!before(child, parent)) break;
        swap(parent, child);
        parent = child;
      }
      return true;
    },
  };
  return heap;
}
