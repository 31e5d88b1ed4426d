import { X } from "lucide-react";
import { Dialog } from "radix-ui";
import { type ReactNode, useState } from "react";
import type { Settings } from "../../../app/contract/setting.ts";
import { planWords } from "../../../app/plan.ts";
import { attempt } from "../../command/command.ts";
import { changeSettings } from "../../command/view.ts";
import { Choice } from "../control/choice.tsx";
import { useDocument, usePage, useUi } from "../page.ts";
import { kvChoices, kvWords } from "./kv-type.ts";

interface RowProps {
  label: string;
  about?: string;
  /** Wider than can stand beside its words. */
  wide?: boolean;
  children: ReactNode;
}

function Row({ label, about, wide = false, children }: RowProps) {
  return (
    <div className={wide ? "setting wide" : "setting"}>
      <div>
        <span className="setting-label">{label}</span>
        {about !== undefined && <small>{about}</small>}
      </div>
      {children}
    </div>
  );
}

/** Empty or 0 leaves the choice to Halogen. */
function WholeNumber({
  label,
  value,
  max,
  onChange,
}: {
  label: string;
  value: number;
  max: number;
  onChange: (value: number) => void;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? (value === 0 ? "" : String(value));
  const parsed = text.trim() === "" ? 0 : Number(text);
  const valid = Number.isInteger(parsed) && parsed >= 0 && parsed <= max;
  const commit = () => {
    if (typed !== null && valid && parsed !== value) onChange(parsed);
    setTyped(null);
  };
  return (
    <input
      className="number"
      inputMode="numeric"
      aria-label={label}
      aria-invalid={!valid}
      placeholder="automatic"
      value={text}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === "Enter" && commit()}
    />
  );
}

/** What the two choices above have led to, for the model that is loaded. */
function LoadedPlan() {
  const model = useDocument((state) => [...state.models.values()].find((one) => one.state === "loaded") ?? null);
  if (model === null || model.plan === null) return null;
  return (
    <p className="setting-plan">
      <b>{model.name}, as loaded:</b> {planWords(model.plan)}
    </p>
  );
}

function Form({ settings }: { settings: Settings }) {
  const page = usePage();
  const set = (patch: Partial<Settings>) => attempt(page, () => changeSettings(page, patch));
  return (
    <div className="settings">
      <Row label="Appearance">
        <Choice
          label="Appearance"
          value={settings.theme}
          options={[
            ["system", "System"],
            ["light", "Light"],
            ["dark", "Dark"],
          ]}
          onChange={(theme) => set({ theme })}
        />
      </Row>
      <Row label="Send with" about="Shift Enter always makes a new line.">
        <Choice
          label="Send with"
          value={settings.sendWithEnter ? "enter" : "mod"}
          options={[
            ["enter", "Enter"],
            ["mod", page.mac ? "⌘ Enter" : "Ctrl Enter"],
          ]}
          onChange={(key) => set({ sendWithEnter: key === "enter" })}
        />
      </Row>
      <h3>Engine</h3>
      <Row label="Context length" about="Tokens. Automatic takes as much as fits, at most what the model was made for.">
        <WholeNumber
          label="Context length"
          value={settings.contextLength}
          max={10_000_000}
          onChange={(contextLength) => set({ contextLength })}
        />
      </Row>
      <Row label="Context memory" about={kvWords(settings.kvType)} wide>
        <Choice
          label="Context memory"
          value={settings.kvType}
          options={kvChoices}
          onChange={(kvType) => set({ kvType })}
        />
      </Row>
      <LoadedPlan />
      <Row label="Threads" about="Of the CPU backend.">
        <WholeNumber label="Threads" value={settings.threads} max={1024} onChange={(threads) => set({ threads })} />
      </Row>
      <Row
        label="Engine process"
        about="Its own process keeps the app alive when the engine fails. Takes effect at the next start."
      >
        <Choice
          label="Engine process"
          value={settings.engineInProcess ? "in" : "own"}
          options={[
            ["own", "Its own"],
            ["in", "The app's"],
          ]}
          onChange={(key) => set({ engineInProcess: key === "in" })}
        />
      </Row>
    </div>
  );
}

export function SettingsDialog() {
  const page = usePage();
  const open = useUi((state) => state.open === "settings");
  const settings = useDocument((state) => state.settings);
  const info = useDocument((state) => state.info);
  return (
    <Dialog.Root open={open} onOpenChange={(next) => page.ui.setState({ open: next ? "settings" : null })}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog" aria-describedby={undefined}>
          <header className="dialog-header">
            <Dialog.Title>Settings</Dialog.Title>
            <Dialog.Close className="icon-button" aria-label="Close">
              <X size={15} strokeWidth={1.75} aria-hidden="true" />
            </Dialog.Close>
          </header>
          {settings && <Form settings={settings} />}
          {info && (
            <dl className="about">
              <div>
                <dt>Halogen</dt>
                <dd>{info.version}</dd>
              </div>
              <div>
                <dt>Chats</dt>
                <dd>{info.dataFolder}</dd>
              </div>
              <div>
                <dt>Models</dt>
                <dd>{info.modelFolder}</dd>
              </div>
            </dl>
          )}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
