/** A real HTTP server whose answers the test scripts one after another. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface FileServer {
  url: string;
  port: number;
  requests: { method: string; path: string; range: string | undefined; ifRange: string | undefined }[];
  /** One per request; the last one stays. */
  script: Answer[];
  /** Cuts every connection. */
  cut(): void;
  close(): Promise<void>;
}

export async function startFileServer(...script: Answer[]): Promise<FileServer> {
  const requests: FileServer["requests"] = [];
  const state = { script };
  const server: Server = createServer((request, response) => {
    const { range, "if-range": ifRange } = request.headers;
    requests.push({
      method: request.method ?? "",
      path: request.url ?? "",
      range,
      ifRange: typeof ifRange === "string" ? ifRange : undefined,
    });
    const answer = state.script.length > 1 ? state.script.shift() : state.script[0];
    if (answer === undefined) response.writeHead(500).end();
    else answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/model.gguf`,
    port,
    requests,
    get script() {
      return state.script;
    },
    set script(next) {
      state.script = next;
    },
    cut: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface FileAnswerOptions {
  etag?: string | null;
  /** Stops sending after so many bytes of this answer, and keeps the connection. */
  after?: number;
  /** Ignores Range. */
  whole?: boolean;
}

/** As a good server sends a file, with the faults that are asked for. */
export function sendFile(bytes: Buffer, { etag = '"v1"', after, whole = false }: FileAnswerOptions = {}): Answer {
  return (request, response) => {
    const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? "");
    const condition = request.headers["if-range"];
    const from = whole || range === null || (condition !== undefined && condition !== etag) ? 0 : Number(range[1]);
    const body = bytes.subarray(from);
    response.writeHead(from > 0 ? 206 : 200, {
      "content-length": body.length,
      ...(etag === null ? {} : { etag }),
      ...(from > 0 ? { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {}),
    });
    if (after === undefined || after >= body.length) {
      response.end(body);
      return;
    }
    response.write(body.subarray(0, after));
  };
}

export function sendStatus(status: number, headers: Record<string, string> = {}): Answer {
  return (_request, response) => void response.writeHead(status, headers).end("no");
}
