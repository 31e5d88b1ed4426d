/** Text beyond this would make the field slow; it becomes an attachment instead. */
const longPaste = { characters: 20_000, lines: 400 };

export function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

export function isLongPaste(text: string): boolean {
  return text.length > longPaste.characters || countLines(text) > longPaste.lines;
}
