/** The part of a KeyboardEvent that shortcuts look at. */
export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

interface Shortcut {
  mod: boolean;
  alt: boolean;
  shift: boolean;
  key: string;
}

function parse(shortcut: string): Shortcut {
  const parts = shortcut.split("+");
  const key = parts.at(-1) ?? "";
  return {
    mod: parts.includes("Mod"),
    alt: parts.includes("Alt"),
    shift: parts.includes("Shift"),
    key: key.toLowerCase(),
  };
}

/** `shortcut` is e.g. "Mod+Shift+K"; Mod is Command on a Mac and Control elsewhere. */
export function matches(shortcut: string, press: KeyPress, mac: boolean): boolean {
  const wanted = parse(shortcut);
  const mod = mac ? press.metaKey : press.ctrlKey;
  const otherMod = mac ? press.ctrlKey : press.metaKey;
  return (
    press.key.toLowerCase() === wanted.key &&
    mod === wanted.mod &&
    !otherMod &&
    press.altKey === wanted.alt &&
    press.shiftKey === wanted.shift
  );
}

const names: Record<string, string> = {
  arrowleft: "←",
  arrowright: "→",
  arrowup: "↑",
  arrowdown: "↓",
  escape: "Esc",
};

/** "Ctrl N", "⌘N". */
export function describe(shortcut: string, mac: boolean): string {
  const { mod, alt, shift, key } = parse(shortcut);
  const name = names[key] ?? (key.length === 1 ? key.toUpperCase() : key[0]?.toUpperCase() + key.slice(1));
  if (mac) return `${alt ? "⌥" : ""}${shift ? "⇧" : ""}${mod ? "⌘" : ""}${name}`;
  return [mod ? "Ctrl" : "", alt ? "Alt" : "", shift ? "Shift" : "", name].filter(Boolean).join(" ");
}
