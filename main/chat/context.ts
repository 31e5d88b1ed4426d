import { HalogenError } from "../../app/error.ts";

export interface ContextLimit {
  /** Of the loaded model. */
  contextLength: number;
  /** The most the model itself can take. */
  trained: number;
}

/**
 * Throws context.exceeded with the numbers unless at least one token of a reply has room behind the prompt. `exact` is false for a number that
 * is certain not to be too large.
 */
export function checkContext(promptTokens: number, exact: boolean, { contextLength, trained }: ContextLimit): void {
  const over = promptTokens + 1 - contextLength;
  if (over <= 0) return;
  const larger =
    trained > contextLength
      ? `Load the model with a larger context (up to ${count(trained)} tokens, in the settings), shorten the message, or start a new chat.`
      : "Shorten the message or start a new chat; this model takes no larger context.";
  throw new HalogenError(
    "context.exceeded",
    `The conversation has ${exact ? "" : "at least "}${count(promptTokens)} tokens, but the context holds ${count(contextLength)}: ${count(over)} too many`,
    { hint: larger, detail: { promptTokens, contextLength, over, trained, exact } },
  );
}

/** The reply ran into the context's end. */
export function contextFull(used: number, { contextLength, trained }: ContextLimit): HalogenError {
  return new HalogenError("context.exceeded", `The context is full: ${count(used)} of ${count(contextLength)} tokens`, {
    hint:
      trained > contextLength
        ? `Load the model with a larger context (up to ${count(trained)} tokens, in the settings) and continue, or start a new chat.`
        : "Start a new chat, or go on from an earlier message; this model takes no larger context.",
    detail: { promptTokens: used, contextLength, over: 0, trained },
  });
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
