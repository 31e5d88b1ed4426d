/** Our page's own address, and which other addresses may leave for the system's browser. */

export const scheme = "app";
export const pageAddress = `${scheme}://halogen/`;

export function isPage(address: string): boolean {
  return partsOf(address)?.origin === `${scheme}://halogen`;
}

/** Web pages only: a file, a script or another program's scheme could act on the user's machine. */
export function isOutside(address: string): boolean {
  const protocol = partsOf(address)?.protocol;
  return protocol === "https:" || protocol === "http:";
}

function partsOf(address: string): { protocol: string; origin: string } | null {
  try {
    const { protocol, host, username, password } = new URL(address);
    if (username !== "" || password !== "") return null;
    return { protocol, origin: `${protocol}//${host}` };
  } catch {
    // What cannot be parsed is not ours and goes nowhere.
    return null;
  }
}
