/** A heap of numbers that gives the least first. */
export interface Lowest {
  push(value: number): void;
  /** Takes the least; only when there is one. */
  pop(): number;
  /** Infinity when empty. */
  readonly least: number;
}

export function createLowest(): Lowest {
  const heap: number[] = [];
  return {
    get least() {
      return heap.length === 0 ? Number.POSITIVE_INFINITY : (heap[0] as number);
    },
    push: (value) => {
      let child = heap.length;
      heap.push(value);
      while (child > 0) {
        const parent = (child - 1) >> 1;
        const above = heap[parent] as number;
        if (above <= value) break;
        heap[child] = above;
        child = parent;
      }
      heap[child] = value;
    },
    pop: () => {
      const least = heap[0] as number;
      const last = heap.pop() as number;
      const size = heap.length;
      if (size === 0) return least;
      let parent = 0;
      for (;;) {
        let child = parent * 2 + 1;
        if (child >= size) break;
        if (child + 1 < size && (heap[child + 1] as number) < (heap[child] as number)) child++;
        if ((heap[child] as number) >= last) break;
        heap[parent] = heap[child] as number;
        parent = child;
      }
      heap[parent] = last;
      return least;
    },
  };
}
