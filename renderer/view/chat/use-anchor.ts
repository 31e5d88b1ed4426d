import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { VirtualizerHandle } from "virtua";
import {
  type AnchorState,
  afterIntentUp,
  afterScroll,
  distanceToEnd,
  initialAnchor,
  type ScrollPosition,
} from "../../logic/anchor.ts";
import type { ConversationRow } from "../../logic/conversation.ts";
import { usePage, useUi } from "../page.ts";

function positionOf(element: HTMLElement): ScrollPosition {
  return { top: element.scrollTop, height: element.scrollHeight, viewport: element.clientHeight };
}

interface Anchor {
  scroller: RefObject<HTMLElement | null>;
  list: RefObject<VirtualizerHandle | null>;
  /** True when the end is more than a screen away. */
  away: boolean;
  /** Goes to the end if the reader follows it. To be called when the content has its new height. */
  stick(): void;
  handlers: {
    onScroll(): void;
    onWheel(event: { deltaY: number }): void;
    onKeyDown(event: { key: string; target: EventTarget }): void;
    onTouchMove(): void;
    onPointerDown(): void;
  };
}

/** How long after the wheel or a key the view may still be moving by it, in milliseconds. */
const handLasts = 400;

function canScroll(element: HTMLElement | null): boolean {
  return element !== null && element.scrollTop > 0;
}

/** Buttons that change the height of what is above them or beside them. */
const changers = "[aria-expanded], .versions button, .bubble button";

const keysUp = new Set(["ArrowUp", "PageUp", "Home"]);

/** Keeps the reader at the end only while they are there; otherwise never moves them. */
export function useAnchor(rows: readonly ConversationRow[]): Anchor {
  const page = usePage();
  const scroller = useRef<HTMLElement | null>(null);
  const list = useRef<VirtualizerHandle | null>(null);
  const anchor = useRef<AnchorState>(initialAnchor);
  /** Until when a scroll event is taken for the reader's own, in the clock of performance.now. */
  const handUntil = useRef(0);
  const [away, setAway] = useState(false);
  const followSerial = useUi((state) => state.followSerial);
  const target = useUi((state) => state.target);

  const stick = useCallback(() => {
    const element = scroller.current;
    if (!element || !anchor.current.follows) return;
    element.scrollTop = element.scrollHeight;
    const position = positionOf(element);
    anchor.current = { follows: true, lastTop: position.top, lastHeight: position.height };
  }, []);

  const follow = useCallback(() => {
    anchor.current = { ...anchor.current, follows: true };
    setAway(false);
    stick();
  }, [stick]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of what is shown is a reason to look again
  useLayoutEffect(() => stick(), [stick, rows]);

  // A composer that grows makes the view smaller.
  useLayoutEffect(() => {
    if (!scroller.current) return;
    const observer = new ResizeObserver(stick);
    observer.observe(scroller.current);
    return () => observer.disconnect();
  }, [stick]);

  // What opens or changes by a click stays under the pointer, also at the end.
  useEffect(() => {
    const element = scroller.current;
    const onClick = (event: MouseEvent) => {
      if ((event.target as Element).closest(changers)) anchor.current = { ...anchor.current, follows: false };
    };
    element?.addEventListener("click", onClick, true);
    return () => element?.removeEventListener("click", onClick, true);
  }, []);

  const firstSerial = useRef(followSerial);
  useLayoutEffect(() => {
    if (followSerial !== firstSerial.current) follow();
  }, [followSerial, follow]);

  useEffect(() => {
    if (!target) return;
    const index = rows.findIndex((row) => row.message.id === target.messageId);
    if (index === -1) return;
    anchor.current = { ...anchor.current, follows: false };
    list.current?.scrollToIndex(index, { align: "start", offset: -24 });
    page.ui.setState({ target: null });
    const frame = requestAnimationFrame(() => {
      const row = scroller.current?.querySelector(`[data-message-id="${CSS.escape(target.messageId)}"]`);
      row?.classList.add("found");
    });
    return () => cancelAnimationFrame(frame);
  }, [target, rows, page]);

  const handlers = useMemo(
    () => ({
      onScroll() {
        const element = scroller.current;
        if (!element) return;
        const position = positionOf(element);
        anchor.current = afterScroll(anchor.current, position, performance.now() < handUntil.current);
        setAway(!anchor.current.follows && distanceToEnd(position) > position.viewport / 2);
      },
      onWheel(event: { deltaY: number }) {
        handUntil.current = performance.now() + handLasts;
        if (event.deltaY < 0 && canScroll(scroller.current)) anchor.current = afterIntentUp(anchor.current);
      },
      onKeyDown(event: { key: string; target: EventTarget }) {
        if (event.target !== scroller.current) return;
        handUntil.current = performance.now() + handLasts;
        if (keysUp.has(event.key) && canScroll(scroller.current)) anchor.current = afterIntentUp(anchor.current);
      },
      onTouchMove() {
        handUntil.current = performance.now() + handLasts;
      },
      onPointerDown() {
        // The scroll bar, or a selection that is drawn upwards.
        handUntil.current = Number.POSITIVE_INFINITY;
        const release = () => {
          handUntil.current = performance.now() + handLasts;
        };
        window.addEventListener("pointerup", release, { once: true });
      },
    }),
    [],
  );
  return { scroller, list, away, stick, handlers };
}
