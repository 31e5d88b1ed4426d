import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { WireError } from "../../../app/error.ts";
import { errorDetails } from "../../logic/error-detail.ts";

/** A fault: what happened, what to do, the numbers, the code to search for, and what can be done here. */
export function ErrorCard({ error, children }: { error: WireError; children?: ReactNode }) {
  const details = errorDetails(error);
  return (
    <section className="error-card" aria-label="Error">
      <CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" />
      <div className="error-body">
        <div className="error-head">
          <p className="error-message">{error.message}</p>
          <code>{error.code}</code>
        </div>
        {error.hint !== "" && <p className="error-hint">{error.hint}</p>}
        {details.length > 0 && (
          <dl className="error-detail">
            {details.map(([name, text]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        )}
        {children && <div className="error-foot">{children}</div>}
      </div>
    </section>
  );
}
