/** Where the window was. Pure: what was stored may be anything, and screens come and go. */
import { z } from "zod";

export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface WindowState {
  /** Without a place the system chooses one. */
  bounds: { x?: number; y?: number; width: number; height: number };
  maximized: boolean;
}

export const smallest = { width: 480, height: 360 };
const usual = { width: 1240, height: 820 };
/** The least of the title bar that must be on a screen, so that the window can be dragged. */
const grip = { width: 120, height: 32 };

const integer = z.number().int().min(-100_000).max(100_000);
const storedSchema = z.object({
  x: integer,
  y: integer,
  width: integer.positive(),
  height: integer.positive(),
  maximized: z.boolean(),
});

export type StoredWindow = z.infer<typeof storedSchema>;

/** `areas`: the work area of each screen, the main one first. */
export function restoreWindow(stored: unknown, areas: Rectangle[]): WindowState {
  const parsed = storedSchema.safeParse(stored);
  const [main = { x: 0, y: 0, ...usual }] = areas;
  if (!parsed.success) return { bounds: clamp(usual, main), maximized: false };
  const { x, y, maximized } = parsed.data;
  // A window that has to shrink may no longer reach onto the screen, so the size comes first.
  for (const area of areas) {
    const size = clamp(parsed.data, area);
    if (reachable({ x, y, ...size }, area)) return { bounds: { x, y, ...size }, maximized };
  }
  return { bounds: clamp(parsed.data, main), maximized };
}

function clamp(size: { width: number; height: number }, area: Rectangle): { width: number; height: number } {
  return {
    width: Math.max(smallest.width, Math.min(size.width, area.width)),
    height: Math.max(smallest.height, Math.min(size.height, area.height)),
  };
}

/** The title bar lies at the top, so its upper edge must be on the screen. */
function reachable(window: Rectangle, area: Rectangle): boolean {
  const shared = Math.min(window.x + window.width, area.x + area.width) - Math.max(window.x, area.x);
  return shared >= grip.width && window.y >= area.y && window.y <= area.y + area.height - grip.height;
}
