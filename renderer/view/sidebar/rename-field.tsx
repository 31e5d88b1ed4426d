import { useEffect, useRef } from "react";

/** Enter and leaving the field keep the title, Escape gives the old one back. */
export function RenameField({ title, onDone }: { title: string; onDone: (title: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // After the menu that opened it has given the focus back.
    const frame = requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.select();
    });
    return () => cancelAnimationFrame(frame);
  }, []);
  return (
    <input
      ref={field}
      className="rename"
      aria-label="Chat title"
      defaultValue={title}
      maxLength={200}
      onBlur={(event) => onDone(event.target.value)}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing) return;
        if (event.key === "Enter") event.currentTarget.blur();
        if (event.key === "Escape") {
          event.currentTarget.value = title;
          event.currentTarget.blur();
          event.stopPropagation();
        }
      }}
    />
  );
}
