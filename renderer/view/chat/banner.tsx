import { RotateCw, TriangleAlert, Unplug, X } from "lucide-react";
import type { ReactNode } from "react";
import { attempt } from "../../command/command.ts";
import { restartEngine } from "../../command/model.ts";
import { plural } from "../../logic/number.ts";
import { IconButton } from "../control/button.tsx";
import { useDocument, usePage, useUi } from "../page.ts";

function Banner({ level, icon, children }: { level: "warning" | "error"; icon: ReactNode; children: ReactNode }) {
  return (
    <div className={`banner ${level}`} role={level === "error" ? "alert" : "status"}>
      {icon}
      {children}
    </div>
  );
}

/** The engine's own state: what ended it, and what is being done. */
function EngineBanner() {
  const page = usePage();
  const engine = useDocument((state) => state.engine);
  const seen = useUi((state) => state.restartsSeen);
  if (!engine) return null;
  const crash = engine.lastCrash;
  const why = crash && (
    <>
      {" "}
      {crash.message} {crash.hint}
    </>
  );
  const icon = <TriangleAlert size={15} strokeWidth={1.75} aria-hidden="true" />;
  if (engine.state === "restarting") {
    return (
      <Banner level="warning" icon={<RotateCw className="spin" size={15} strokeWidth={1.75} aria-hidden="true" />}>
        <p>
          <b>The engine stopped and is being restarted.</b>
          {why}
        </p>
      </Banner>
    );
  }
  if (engine.state === "failed" || engine.state === "closed") {
    return (
      <Banner level="error" icon={icon}>
        <p>
          <b>The engine does not run.</b>
          {why}
        </p>
        <button type="button" className="button small" onClick={() => attempt(page, () => restartEngine(page))}>
          Restart the engine
        </button>
      </Banner>
    );
  }
  if (engine.state === "ready" && crash && engine.restarts > seen) {
    return (
      <Banner level="warning" icon={icon}>
        <p>
          <b>The engine stopped and runs again.</b>
          {why} What was written of the reply is kept.
          {engine.restarts > 1 && ` It was restarted ${plural(engine.restarts, "time")} since Halogen started.`}
        </p>
        <IconButton
          name="Dismiss"
          icon={X}
          size={14}
          onClick={() => page.ui.setState({ restartsSeen: engine.restarts })}
        />
      </Banner>
    );
  }
  return null;
}

export function Banners() {
  const connection = useDocument((state) => state.connection);
  return (
    <div className="banners">
      {connection === "closed" && (
        <Banner level="error" icon={<Unplug size={15} strokeWidth={1.75} aria-hidden="true" />}>
          <p>
            <b>The connection to Halogen is lost.</b> Trying to reach it again. What was stored is safe.
          </p>
        </Banner>
      )}
      {connection === "refused" && (
        <Banner level="error" icon={<Unplug size={15} strokeWidth={1.75} aria-hidden="true" />}>
          <p>
            <b>This page has no access to Halogen.</b> A new access token is made at each start: open the address that
            Halogen printed when it started.
          </p>
        </Banner>
      )}
      <EngineBanner />
    </div>
  );
}
