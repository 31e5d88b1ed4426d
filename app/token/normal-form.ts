/**
 * Unicode's normal forms for text of any kind. The built-in ones take the square of the length of a run of combining marks: half a megabyte of
 * them takes minutes. So long runs are put in order first, which is what they do themselves, step by step.
 */

export type NormalForm = "NFC" | "NFD";

const longRun = /\p{M}{64,}/gu;

export function toNormalForm(text: string, form: NormalForm): string {
  return text.replace(longRun, orderMarks).normalize(form);
}

/** As the normal forms demand: decomposed, and sorted by combining class between marks of class 0, equals in their order. */
function orderMarks(run: string): string {
  const marks = Array.from(run);
  const parts = new Map<string, string[]>();
  for (const mark of new Set(marks)) parts.set(mark, Array.from(mark.normalize("NFD")));
  const distinct = [...new Set([...parts.values()].flat())];
  const fixed = new Set(distinct.filter(staysInPlace));
  const movable = distinct.filter((mark) => !fixed.has(mark)).sort(compareMarks);
  const classes = new Map<string, number>();
  let last = -1;
  movable.forEach((mark, index) => {
    if (index === 0 || compareMarks(movable[index - 1] as string, mark) !== 0) last++;
    classes.set(mark, last);
  });

  const ordered: string[] = [];
  let waiting: (string[] | undefined)[] = [];
  const flush = (): void => {
    for (const list of waiting) for (const mark of list ?? []) ordered.push(mark);
    waiting = [];
  };
  for (const mark of marks) {
    for (const part of parts.get(mark) as string[]) {
      const order = classes.get(part);
      if (order === undefined) {
        flush();
        ordered.push(part);
      } else {
        waiting[order] ??= [];
        waiting[order]?.push(part);
      }
    }
  }
  flush();
  return ordered.join("");
}

/** Of class 0: it changes places with neither a mark of the lowest class (U+0334) nor one of the highest (U+0345). */
function staysInPlace(mark: string): boolean {
  return !swaps(mark, "\u0334") && !swaps("\u0345", mark);
}

function compareMarks(left: string, right: string): number {
  return swaps(left, right) ? 1 : swaps(right, left) ? -1 : 0;
}

function swaps(left: string, right: string): boolean {
  return (left + right).normalize("NFD") !== left + right;
}
