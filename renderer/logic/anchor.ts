/** Where a scroller stands. All in CSS pixels. */
export interface ScrollPosition {
  top: number;
  height: number;
  viewport: number;
}

export interface AnchorState {
  /** True while the reader is at the end, and so wants to stay there as text comes in. */
  follows: boolean;
  lastTop: number;
  lastHeight: number;
}

/** Within this distance the reader counts as being at the end; about one line of text. */
const endSlack = 24;

export const initialAnchor: AnchorState = { follows: true, lastTop: 0, lastHeight: 0 };

export function distanceToEnd(position: ScrollPosition): number {
  return Math.max(0, position.height - position.viewport - position.top);
}

/**
 * After a scroll event: a move upwards lets go, but not one that came with a change of the content's height, for that is how a list puts
 * its rows right, unless the reader's hand was seen (`intent`). Arriving at the end takes hold again.
 */
export function afterScroll(state: AnchorState, position: ScrollPosition, intent = false): AnchorState {
  const movedUp = position.top < state.lastTop - 1;
  const sameContent = position.height === state.lastHeight;
  const atEnd = distanceToEnd(position) <= endSlack;
  let follows = state.follows;
  if (movedUp && !atEnd && (intent || sameContent)) follows = false;
  else if (atEnd && !movedUp) follows = true;
  return { follows, lastTop: position.top, lastHeight: position.height };
}

/** After the reader turned the wheel up, or pressed a key that goes up. */
export function afterIntentUp(state: AnchorState): AnchorState {
  return { ...state, follows: false };
}
