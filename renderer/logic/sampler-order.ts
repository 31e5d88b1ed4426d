import { samplerOrder } from "../../app/chat/sampler-order.ts";
import type { Model } from "../../app/contract/model.ts";
import type { SamplingDefaults, SamplingOptions } from "../../app/contract/session.ts";
import { type SamplerName, samplerNames } from "../../app/engine.ts";

const steps: Readonly<Record<SamplerName, { label: string; uses: readonly (keyof SamplingDefaults)[]; off: number }>> =
  {
    penalties: { label: "Penalties", uses: ["repetitionPenalty", "presencePenalty", "frequencyPenalty"], off: 0 },
    dry: { label: "DRY", uses: ["dryMultiplier"], off: 0 },
    top_n_sigma: { label: "Top n sigma", uses: ["topNSigma"], off: 0 },
    top_k: { label: "Top K", uses: ["topK"], off: 0 },
    typical_p: { label: "Typical P", uses: ["typicalP"], off: 1 },
    top_p: { label: "Top P", uses: ["topP"], off: 1 },
    min_p: { label: "Min P", uses: ["minP"], off: 0 },
    xtc: { label: "XTC", uses: ["xtcProbability"], off: 0 },
    temperature: { label: "Temperature", uses: ["temperature"], off: Number.NaN },
  };

export interface OrderRow {
  name: SamplerName;
  label: string;
  /** Place in the chain from 1; null = left out. */
  place: number | null;
  /** The value it runs with, or "off". */
  note: string;
  /** Left out, though the user has set a value of its own. */
  lost: boolean;
}

/** The chain as it will run, then what is left out of it. */
export function planOrder(options: SamplingOptions, model: Model | null): OrderRow[] {
  const defaults = model?.defaults;
  const order = samplerOrder(options, { order: defaults?.order ?? [...samplerNames] });
  const left = samplerNames.filter((name) => !order.includes(name));
  return [...order, ...left].map((name, index) => {
    const { label, uses } = steps[name];
    const chosen = uses.some((key) => options[key as keyof SamplingOptions] !== null);
    const place = index < order.length ? index + 1 : null;
    return { name, label, place, note: noteOf(name, options, defaults), lost: place === null && chosen };
  });
}

function noteOf(name: SamplerName, options: SamplingOptions, defaults: SamplingDefaults | undefined): string {
  const { uses, off } = steps[name];
  const values = uses.map((key) => (options[key as keyof SamplingOptions] ?? defaults?.[key]) as number | undefined);
  if (name === "penalties") {
    const [repeat = 1, presence = 0, frequency = 0] = values;
    return repeat === 1 && presence === 0 && frequency === 0 ? "off" : "on";
  }
  const [value] = values;
  return value === undefined ? "" : value === off ? "off" : String(value);
}

/** The included steps with this one `by` places further; the same when it cannot. */
export function moveStep(rows: readonly OrderRow[], name: SamplerName, by: -1 | 1): SamplerName[] {
  const order = includedIn(rows);
  const from = order.indexOf(name);
  const to = from + by;
  if (from < 0 || to < 0 || to >= order.length) return order;
  order.splice(from, 1);
  order.splice(to, 0, name);
  return order;
}

/** Takes a step out, or puts it back at its usual place. The last one stays: a chain has at least one. */
export function toggleStep(rows: readonly OrderRow[], name: SamplerName): SamplerName[] {
  const order = includedIn(rows);
  if (order.includes(name)) return order.length === 1 ? order : order.filter((each) => each !== name);
  const rank = samplerNames.indexOf(name);
  const behind = order.findIndex((other) => samplerNames.indexOf(other) > rank);
  order.splice(behind < 0 ? order.length : behind, 0, name);
  return order;
}

function includedIn(rows: readonly OrderRow[]): SamplerName[] {
  return rows.filter(({ place }) => place !== null).map(({ name }) => name);
}

/** What is to be stored: an order that is the chat's own without it is none. */
export function orderChoice(
  order: readonly SamplerName[],
  options: SamplingOptions,
  model: Model | null,
): SamplingOptions["order"] {
  const usual = samplerOrder({ ...options, order: null }, { order: model?.defaults.order ?? [...samplerNames] });
  return usual.join() === order.join() ? null : [...order];
}
