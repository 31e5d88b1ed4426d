import { Popover } from "radix-ui";
import type { ReactElement, ReactNode } from "react";
import type { UiState } from "../../store/ui.ts";
import { usePage, useUi } from "../page.ts";

interface ChipPopoverProps {
  kind: NonNullable<UiState["open"]>;
  /** Of what opens, for who does not see it. */
  label: string;
  /** Of the sheet that opens, for its width. */
  className: string;
  /** The button that opens it. */
  chip: ReactElement;
  children: ReactNode;
  onClose?: (() => void) | undefined;
}

/** A chip of the composer with the sheet that it opens above itself; of all of them, one is open. */
export function ChipPopover({ kind, label, className, chip, children, onClose }: ChipPopoverProps) {
  const page = usePage();
  const open = useUi((state) => state.open === kind);
  const change = (next: boolean) => {
    page.ui.setState({ open: next ? kind : null });
    if (!next) onClose?.();
  };
  return (
    <Popover.Root open={open} onOpenChange={change}>
      <Popover.Trigger asChild>{chip}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className={`popover ${className}`}
          align="start"
          side="top"
          sideOffset={10}
          collisionPadding={12}
          aria-label={label}
        >
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
