const alphabet = "abcdefghijklmnopqrstuvwxyzäöü模 ";

export function textOf(length: number): string {
  return alphabet.repeat(Math.ceil(length / alphabet.length)).slice(0, length);
}
