/** Beyond this, measuring costs more than it tells: the field is at its limit anyway. */
const measuredCharacters = 20_000;

/** Makes a text field as high as its text, up to `limit` pixels. */
export function fitHeight(field: HTMLTextAreaElement, text: string, limit: number): void {
  if (text.length > measuredCharacters) {
    field.style.height = `${limit}px`;
    return;
  }
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, limit)}px`;
}
