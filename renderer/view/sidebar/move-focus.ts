import type { KeyboardEvent } from "react";

/** Up and down between the main buttons of a list, Home and End to its ends. */
export function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  if (!["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) return;
  const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>("button.session-open, button.result")];
  const at = buttons.indexOf(document.activeElement as HTMLElement);
  if (at === -1) return;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key] ?? at;
  event.preventDefault();
  buttons[Math.max(0, Math.min(to, buttons.length - 1))]?.focus();
}
