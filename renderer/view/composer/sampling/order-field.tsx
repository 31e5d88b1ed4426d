import { ChevronDown, ChevronUp } from "lucide-react";
import { type KeyboardEvent, useLayoutEffect, useRef } from "react";
import type { Model } from "../../../../app/contract/model.ts";
import type { SamplingOptions } from "../../../../app/contract/session.ts";
import type { SamplerName } from "../../../../app/engine.ts";
import { moveStep, type OrderRow, orderChoice, planOrder, toggleStep } from "../../../logic/sampler-order.ts";
import { orderHintOf } from "../../../logic/sampling.ts";
import { usePage } from "../../page.ts";
import { FieldFrame } from "./field-frame.tsx";

interface OrderFieldProps {
  options: SamplingOptions;
  model: Model | null;
  onChange: (order: SamplingOptions["order"]) => void;
}

/** The chain of samplers: what takes part, and in which order. */
export function OrderField({ options, model, onChange }: OrderFieldProps) {
  const page = usePage();
  const list = useRef<HTMLOListElement>(null);
  const moved = useRef<string | null>(null);
  const rows = planOrder(options, model);
  const say = (announcement: string) => page.ui.setState({ announcement });

  const shown = rows.map(({ name, place }) => `${name} ${place}`).join();
  // A row that has moved in the document has lost the focus.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the order that is shown is what the effect waits for
  useLayoutEffect(() => {
    if (moved.current !== null) list.current?.querySelector<HTMLElement>(`[data-control="${moved.current}"]`)?.focus();
    moved.current = null;
  }, [shown]);

  const move = (row: OrderRow, by: -1 | 1, control: string) => {
    const order = moveStep(rows, row.name, by);
    const place = order.indexOf(row.name) + 1;
    if (place === row.place || place === 0) return;
    moved.current = control;
    say(`${row.label} is now number ${place} of ${order.length}.`);
    onChange(orderChoice(order, options, model));
  };
  const toggle = (row: OrderRow) => {
    moved.current = `${row.name} in`;
    onChange(orderChoice(toggleStep(rows, row.name), options, model));
  };
  return (
    <FieldFrame
      id="sampling-order"
      label="Order of the samplers"
      about={`Each works on what the one before it has left. ${orderHintOf(model) ?? "Alt and an arrow key move one."}`}
      set={options.order !== null}
      onReset={() => {
        moved.current = null;
        onChange(null);
      }}
    >
      <ol ref={list} className="order-list">
        {rows.map((row) => (
          <OrderItem key={row.name} row={row} onMove={move} onToggle={toggle} />
        ))}
      </ol>
    </FieldFrame>
  );
}

interface OrderItemProps {
  row: OrderRow;
  onMove: (row: OrderRow, by: -1 | 1, control: string) => void;
  onToggle: (row: OrderRow) => void;
}

function OrderItem({ row, onMove, onToggle }: OrderItemProps) {
  const { name, label, place, note, lost } = row;
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    const control = event.target instanceof HTMLElement ? event.target.dataset.control : undefined;
    event.preventDefault();
    event.stopPropagation();
    onMove(row, event.key === "ArrowUp" ? -1 : 1, control ?? `${name} in`);
  };
  return (
    // A shortcut for the controls inside, which do the same by themselves.
    <li className={place === null ? "order-item out" : "order-item"} onKeyDown={onKeyDown}>
      <span className="order-place" aria-hidden="true">
        {place ?? "–"}
      </span>
      <label className="order-label">
        <input type="checkbox" data-control={`${name} in`} checked={place !== null} onChange={() => onToggle(row)} />
        {label}
      </label>
      <span className={lost ? "order-note warn" : "order-note"}>
        {lost ? "has a value, but is left out" : place === null ? "left out" : note}
      </span>
      <MoveButton
        name={name}
        label={label}
        by={-1}
        shown={place !== null}
        onMove={() => onMove(row, -1, `${name} up`)}
      />
      <MoveButton
        name={name}
        label={label}
        by={1}
        shown={place !== null}
        onMove={() => onMove(row, 1, `${name} down`)}
      />
    </li>
  );
}

interface MoveButtonProps {
  name: SamplerName;
  label: string;
  by: -1 | 1;
  shown: boolean;
  onMove: () => void;
}

/** Not disabled at the ends: a button that is disabled loses the focus, and with it the place in the list. */
function MoveButton({ name, label, by, shown, onMove }: MoveButtonProps) {
  const Icon = by < 0 ? ChevronUp : ChevronDown;
  return (
    <button
      type="button"
      className={shown ? "icon-button" : "icon-button invisible"}
      data-control={`${name} ${by < 0 ? "up" : "down"}`}
      aria-label={`Move ${label} ${by < 0 ? "up" : "down"}`}
      onClick={onMove}
    >
      <Icon size={14} strokeWidth={1.75} aria-hidden="true" />
    </button>
  );
}
