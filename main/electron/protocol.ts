/** `app://halogen/…` serves the built page and nothing else; unlike file:, it has an origin of its own and headers. */
import { readFile } from "node:fs/promises";
import type { Protocol } from "electron";
import { cacheControl, pageFile, pageHeaders } from "../page.ts";
import { isPage, scheme } from "./address.ts";

interface Served {
  status: number;
  type: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** Before `ready`, once. */
export function declareScheme(protocol: Protocol): void {
  protocol.registerSchemesAsPrivileged([
    { scheme, privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
}

export function servePage(protocol: Protocol, folder: string): void {
  // Electron 22 has no `handle`; newer ones are about to lose the old form.
  if (typeof protocol.handle === "function") {
    protocol.handle(scheme, async (request) => {
      const { status, type, headers, body } = await serve(request.url, folder);
      return new Response(new Uint8Array(body), { status, headers: { ...headers, "Content-Type": type } });
    });
    return;
  }
  (protocol as Protocol).registerBufferProtocol(scheme, (request, callback) => {
    void serve(request.url, folder).then(({ status, type, headers, body }) =>
      callback({ statusCode: status, mimeType: type.split(";")[0] ?? type, charset: "utf-8", headers, data: body }),
    );
  });
}

async function serve(address: string, folder: string): Promise<Served> {
  const { pathname } = new URL(address);
  const file = isPage(address) ? pageFile(folder, pathname) : null;
  if (file === null) return plain(404, "Not found");
  try {
    const body = await readFile(file.path);
    return {
      status: 200,
      type: file.type,
      headers: { ...pageHeaders(), "Cache-Control": cacheControl(pathname) },
      body,
    };
  } catch (error) {
    // An answer in any case: a request without one leaves the window blank for ever.
    return plain(
      404,
      `This file of Halogen's page cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function plain(status: number, text: string): Served {
  return { status, type: "text/plain", headers: pageHeaders(), body: Buffer.from(text) };
}
