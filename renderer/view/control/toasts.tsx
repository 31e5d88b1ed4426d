import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { dropToast, type Toast } from "../../store/ui.ts";
import { usePage, useUi } from "../page.ts";
import { IconButton } from "./button.tsx";

const shownFor = 8000;

/** Errors stay until they are closed; the rest goes by itself, but not while the pointer or the focus is on it. */
function ToastCard({ toast }: { toast: Toast }) {
  const page = usePage();
  const [held, setHeld] = useState(false);
  const stays = held || toast.level === "error";
  useEffect(() => {
    if (stays) return;
    const timer = setTimeout(() => dropToast(page.ui, toast.id), shownFor);
    return () => clearTimeout(timer);
  }, [stays, page, toast.id]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices that someone is reading
    <div
      className={`toast ${toast.level}`}
      role={toast.level === "error" ? "alert" : "status"}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <div className="toast-text">
        <p>{toast.message}</p>
        {toast.hint !== "" && <small>{toast.hint}</small>}
      </div>
      {toast.action && (
        <button
          type="button"
          className="text-button strong"
          onClick={() => {
            toast.action?.run();
            dropToast(page.ui, toast.id);
          }}
        >
          {toast.action.label}
        </button>
      )}
      <IconButton name="Dismiss" icon={X} size={14} onClick={() => dropToast(page.ui, toast.id)} />
    </div>
  );
}

export function Toasts() {
  const toasts = useUi((state) => state.toasts);
  return (
    <section className="toasts" aria-label="Notices">
      {toasts.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </section>
  );
}
