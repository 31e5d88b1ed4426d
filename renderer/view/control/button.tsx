import type { LucideIcon } from "lucide-react";
import { Tooltip } from "radix-ui";
import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { describe } from "../../logic/key.ts";
import { usePage } from "../page.ts";

interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "name"> {
  /** Its accessible name, and its tooltip. */
  name: string;
  icon: LucideIcon;
  shortcut?: string | undefined;
  size?: number;
  ref?: Ref<HTMLButtonElement>;
}

export function IconButton({ name, icon: Icon, shortcut, size = 15, className = "", ...rest }: IconButtonProps) {
  return (
    <Hint text={name} shortcut={shortcut}>
      <button type="button" aria-label={name} className={`icon-button ${className}`} {...rest}>
        <Icon size={size} strokeWidth={1.75} aria-hidden="true" />
      </button>
    </Hint>
  );
}

export function Hint({
  text,
  shortcut,
  children,
}: {
  text: ReactNode;
  shortcut?: string | undefined;
  children: ReactNode;
}) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content className="hint" sideOffset={6} collisionPadding={8}>
          {text}
          {shortcut !== undefined && <Shortcut keys={shortcut} />}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}

/** A shortcut as a hint for the eye. Drawn by the style sheet, so that it is no part of the name of the button it stands in. */
export function Shortcut({ keys }: { keys: string }) {
  const { mac } = usePage();
  return <kbd data-keys={describe(keys, mac)} />;
}
