import { ChevronRight, SlidersHorizontal } from "lucide-react";
import type { ReactNode } from "react";
import type { Model } from "../../../../app/contract/model.ts";
import type { SamplingOptions } from "../../../../app/contract/session.ts";
import { attempt } from "../../../command/command.ts";
import { resetSampling, setSampling } from "../../../command/session.ts";
import { changedCount, type SamplingGroup, samplingFields, samplingGroups } from "../../../logic/sampling.ts";
import { useChatModel, useChatSampling } from "../../chosen.ts";
import { usePage, useUi } from "../../page.ts";
import { ChipPopover } from "../chip-popover.tsx";
import { NumberField } from "./number-field.tsx";
import { OrderField } from "./order-field.tsx";
import { TextField } from "./text-field.tsx";
import { TokenField } from "./token-field.tsx";

interface PartProps {
  options: SamplingOptions;
  model: Model | null;
}

/** What fewer people change, folded away; how much of it is changed is seen all the same. */
function Group({ label, changed, children }: { label: string; changed: number; children: ReactNode }) {
  return (
    <details className="sampling-group">
      <summary>
        <ChevronRight size={13} strokeWidth={1.75} aria-hidden="true" />
        {label}
        {changed > 0 && (
          <span className="chip-note">
            {changed}
            <span className="unseen"> changed</span>
          </span>
        )}
      </summary>
      {children}
    </details>
  );
}

function Numbers({ group, options, model }: PartProps & { group: SamplingGroup }) {
  const { fields, texts } = group;
  const keys = [...fields.map(({ key }) => key), ...(texts === null ? [] : [texts.key])];
  return (
    <Group label={group.label} changed={keys.filter((key) => options[key] !== null).length}>
      {fields.map((field) => (
        <NumberField key={field.key} field={field} value={options[field.key]} model={model} />
      ))}
      {texts && <TextField field={texts} value={options[texts.key]} />}
    </Group>
  );
}

function Tokens({ options, model }: PartProps) {
  const page = usePage();
  const { logitBias, suppress } = options;
  return (
    <Group label="Single tokens" changed={Number(logitBias !== null) + Number(suppress !== null)}>
      <TokenField
        id="sampling-logitBias"
        label="Bias"
        about="Above 0 makes a token likelier, below 0 rarer; ±5 is a lot. A text's bias goes to each of its tokens."
        withBias
        entries={logitBias}
        modelId={model?.id ?? null}
        onChange={(next) =>
          attempt(page, () =>
            setSampling(page, { logitBias: next?.map(({ token, bias }) => ({ token, bias: bias ?? 0 })) ?? null }),
          )
        }
      />
      <TokenField
        id="sampling-suppress"
        label="Never"
        about="These never come. Of a text, each of its tokens: short ones are parts of many other words."
        withBias={false}
        entries={suppress?.map((token) => ({ token, bias: null })) ?? null}
        modelId={model?.id ?? null}
        onChange={(next) =>
          attempt(page, () => setSampling(page, { suppress: next?.map(({ token }) => token) ?? null }))
        }
      />
    </Group>
  );
}

export function Sampling() {
  const page = usePage();
  const sessionId = useUi((state) => state.sessionId);
  const model = useChatModel();
  const options = useChatSampling();
  const changed = changedCount(options);
  return (
    <ChipPopover
      kind="sampling"
      label="Sampling"
      className="sampling"
      chip={
        <button type="button" title="Sampling" className={changed > 0 ? "chip on" : "chip"}>
          <SlidersHorizontal size={13} strokeWidth={1.75} aria-hidden="true" />
          <span className="chip-label last">Sampling</span>
          {changed > 0 && <span className="chip-note">{changed}</span>}
        </button>
      }
    >
      <div key={sessionId} className="sampling-fields">
        {samplingFields.map((field) => (
          <NumberField key={field.key} field={field} value={options[field.key]} model={model} />
        ))}
        {samplingGroups.map((group) => (
          <Numbers key={group.label} group={group} options={options} model={model} />
        ))}
        <Tokens options={options} model={model} />
        <Group label="Order" changed={Number(options.order !== null)}>
          <OrderField
            options={options}
            model={model}
            onChange={(order) => attempt(page, () => setSampling(page, { order }))}
          />
        </Group>
      </div>
      <div className="popover-foot">
        <span className="quiet">Empty fields use the model's own values.</span>
        <button
          type="button"
          className="button small"
          disabled={changed === 0}
          onClick={() => attempt(page, () => resetSampling(page))}
        >
          Reset all
        </button>
      </div>
    </ChipPopover>
  );
}
