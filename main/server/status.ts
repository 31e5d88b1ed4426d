/** The HTTP status of each error code. The record is complete by type: a new code does not compile until it has one. */
import type { ErrorCode, WireError } from "../../app/error.ts";

const statusByCode: Record<ErrorCode, number> = {
  "file.missing": 404,
  "file.unreadable": 422,
  "gguf.empty": 422,
  "gguf.not_gguf": 422,
  "gguf.byte_order": 422,
  "gguf.version": 422,
  "gguf.truncated": 422,
  "gguf.malformed": 422,
  "checkpoint.malformed": 422,
  "checkpoint.truncated": 422,
  "gguf.wrong_type": 422,
  "gguf.limit": 422,
  "model.unknown_architecture": 422,
  "model.unsupported_format": 422,
  "model.missing_tensor": 422,
  "model.tensor_shape": 422,
  "model.missing_key": 422,
  "model.bad_value": 422,
  "model.not_finite": 500,
  "model.not_found": 404,
  "model.not_loaded": 409,
  "model.too_large": 422,
  "model.loading": 409,
  "tokenizer.unsupported": 422,
  "tokenizer.malformed": 422,
  "template.missing": 422,
  "template.failed": 422,
  "context.exceeded": 422,
  "engine.crashed": 503,
  "engine.unavailable": 503,
  "engine.timeout": 504,
  "engine.kernel_missing": 501,
  "request.cancelled": 409,
  "request.invalid": 400,
  "session.not_found": 404,
  "session.busy": 409,
  "message.not_found": 404,
  "message.wrong_role": 409,
  "store.newer_schema": 503,
  "store.locked": 503,
  "store.disk_full": 507,
  "store.corrupt": 500,
  "store.unavailable": 503,
  "download.no_source": 502,
  "download.failed": 502,
  "download.checksum": 502,
  "download.cancelled": 409,
  "setting.invalid": 400,
  "transport.unauthorised": 401,
  "transport.unknown_call": 404,
  "transport.closed": 503,
  "transport.port_in_use": 503,
  "memory.exhausted": 503,
  internal: 500,
};

/** `detail.status` wins: no token is 401, a foreign host or origin 403, both transport.unauthorised. A text beyond its limit is 413. */
export function statusOf({ code, detail }: WireError): number {
  const { status, limit } = detail;
  if (typeof status === "number" && status >= 400 && status < 600) return status;
  if (code === "request.invalid" && typeof limit === "number") return 413;
  return statusByCode[code];
}
