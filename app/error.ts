/** Every fault of Halogen's own is a HalogenError: a code to act on, words to show, a hint what to do, and the numbers. */

export const errorCodes = [
  "file.missing",
  "file.unreadable",
  "gguf.empty",
  "gguf.not_gguf",
  "gguf.byte_order",
  "gguf.version",
  "gguf.truncated",
  "gguf.malformed",
  "gguf.wrong_type",
  "gguf.limit",
  "checkpoint.malformed",
  "checkpoint.truncated",
  "model.unknown_architecture",
  "model.unsupported_format",
  "model.missing_tensor",
  "model.tensor_shape",
  "model.missing_key",
  "model.bad_value",
  "model.not_finite",
  "model.not_found",
  "model.not_loaded",
  "model.too_large",
  "model.loading",
  "tokenizer.unsupported",
  "tokenizer.malformed",
  "template.missing",
  "template.failed",
  "context.exceeded",
  "grammar.invalid",
  "grammar.unsupported",
  "grammar.impossible",
  "grammar.unreached",
  "engine.crashed",
  "engine.unavailable",
  "engine.timeout",
  "engine.kernel_missing",
  "request.cancelled",
  "request.invalid",
  "session.not_found",
  "session.busy",
  "message.not_found",
  "message.wrong_role",
  "store.newer_schema",
  "store.locked",
  "store.disk_full",
  "store.corrupt",
  "store.unavailable",
  "download.no_source",
  "download.failed",
  "download.checksum",
  "download.cancelled",
  "setting.invalid",
  "transport.unauthorised",
  "transport.unknown_call",
  "transport.closed",
  "transport.port_in_use",
  "memory.exhausted",
  "internal",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

export type ErrorDetail = Record<string, string | number | boolean | null>;

/** The form in which an error crosses a process or network boundary. */
export interface WireError {
  code: ErrorCode;
  message: string;
  hint: string;
  detail: ErrorDetail;
}

export class HalogenError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  readonly detail: ErrorDetail;

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint?: string; detail?: ErrorDetail; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "HalogenError";
    this.code = code;
    this.hint = options.hint ?? "";
    this.detail = options.detail ?? {};
  }
}

const known: ReadonlySet<string> = new Set(errorCodes);

/** Anything thrown, as a wire error. What is not ours becomes `internal` and keeps its message. */
export function toWire(error: unknown): WireError {
  if (error instanceof HalogenError) {
    return { code: error.code, message: error.message, hint: error.hint, detail: error.detail };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: "internal", message, hint: "", detail: {} };
}

export function fromWire(wire: WireError): HalogenError {
  const code = known.has(wire.code) ? wire.code : "internal";
  return new HalogenError(code, wire.message, { hint: wire.hint, detail: wire.detail });
}
