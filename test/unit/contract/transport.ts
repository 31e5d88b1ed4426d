/** The two transports as the contract suite opens them: each gives a page's client that is connected to this service. */
import { EventEmitter, once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import type { Client, Service } from "../../../app/contract/client.ts";
import { createBridge } from "../../../main/electron/bridge.ts";
import { type Frame, type MainSide, serveIpc } from "../../../main/electron/ipc.ts";
import { createServer, type Server } from "../../../main/server/server.ts";
import { createHttpClient } from "../../../renderer/transport/http.ts";
import { createIpcClient } from "../../../renderer/transport/ipc.ts";

export interface Opened {
  client: Client;
  close(): Promise<void>;
}

export interface Transport {
  name: string;
  open(service: Service): Promise<Opened>;
}

export const pageUrl = "app://halogen/index.html";

/** Electron's two ends, joined in one process; values are cloned as Electron clones them. */
export function joinedIpc(frame: Frame | null = { url: pageUrl, parent: null }) {
  const main = new Map<string, Parameters<MainSide["handle"]>[1]>();
  const renderer = new EventEmitter();
  const contents = Object.assign(new EventEmitter(), {
    send: (channel: string, value: unknown) => void renderer.emit(channel, {}, structuredClone(value)),
    isDestroyed: () => false,
  });
  return {
    contents,
    renderer,
    ipcMain: {
      handle: (channel, listener) => void main.set(channel, listener),
      removeHandler: (channel) => void main.delete(channel),
    } satisfies MainSide,
    ipcRenderer: Object.assign(renderer, {
      async invoke(channel: string, ...values: unknown[]) {
        const listener = main.get(channel);
        if (listener === undefined) throw new Error(`No handler registered for '${channel}'`);
        return structuredClone(await listener({ senderFrame: frame }, ...structuredClone(values)));
      },
    }),
  };
}

export const ipcTransport: Transport = {
  name: "ipc",
  async open(service) {
    const joined = joinedIpc();
    const ipc = serveIpc({ ipc: joined.ipcMain, service, isPage: (url) => url === pageUrl });
    ipc.attach(joined.contents);
    const client = createIpcClient(createBridge(joined.ipcRenderer));
    return {
      client,
      async close() {
        client.close();
        ipc.close();
      },
    };
  },
};

export async function makePageFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "halogen-page-"));
  await writeFile(join(folder, "index.html"), "<!doctype html><title>Halogen</title>");
  return folder;
}

/** What the browser's side of http.ts needs, done with `ws` and the cookie that a browser would have got from the printed address. */
export async function connectClient(
  server: Pick<Server, "address" | "origin">,
): Promise<{ client: Client; sockets: WebSocket[] }> {
  const entry = await fetch(server.address, { redirect: "manual" });
  const cookie = (entry.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const sockets: WebSocket[] = [];
  const headers = { cookie, origin: server.origin };
  const client = createHttpClient({
    openSocket(handlers) {
      const socket = new WebSocket(`${server.origin.replace("http", "ws")}/api/socket`, { headers });
      sockets.push(socket);
      socket.on("open", handlers.open);
      socket.on("message", (data) => handlers.message(data.toString()));
      socket.on("close", handlers.close);
      socket.on("error", () => undefined);
      return socket;
    },
    checkAccess: async () => (await fetch(`${server.origin}/api/access`, { headers })).status !== 401,
    setTimer(run, milliseconds) {
      const timer = setTimeout(run, Math.min(milliseconds, 10));
      return () => clearTimeout(timer);
    },
  });
  return { client, sockets };
}

export const httpTransport: Transport = {
  name: "http",
  async open(service) {
    const pageFolder = await makePageFolder();
    const server = await createServer({ service, pageFolder, host: "127.0.0.1", port: 0, log: () => undefined });
    const { client, sockets } = await connectClient(server);
    const [socket] = sockets;
    if (socket !== undefined && socket.readyState !== WebSocket.OPEN) await once(socket, "open");
    return {
      client,
      async close() {
        client.close();
        await server.close();
        await rm(pageFolder, { recursive: true });
      },
    };
  },
};

export const transports: Transport[] = [ipcTransport, httpTransport];
