/** The few web names that Node, Electron and every browser share and that app/ may use; its tsconfig knows no other platform. */

interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
}
