import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** SHA-256 of a file, in hexadecimal. `onBytes` tells how far it is. */
export async function sha256Of(path: string, signal: AbortSignal, onBytes: (bytes: number) => void): Promise<string> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path, { signal, highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
    onBytes(bytes);
  }
  return hash.digest("hex");
}
