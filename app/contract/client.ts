/** What a page holds, over either transport, and what main offers to both. */
import type { CallName, Reply, Request } from "./call.ts";
import type { AnyEvent, EventName, EventPayload } from "./event.ts";

/** `refused`: main is there, and does not let this page in. */
export type ConnectionState = "open" | "closed" | "refused";

export interface Client {
  /** Rejects with HalogenError. */
  call<N extends CallName>(name: N, request: Request<N>): Promise<Reply<N>>;
  on<N extends EventName>(name: N, handler: (payload: EventPayload<N>) => void): () => void;
  /** The connection's own state; `open` again after a reconnect means: read everything anew. */
  onConnection(handler: (state: ConnectionState) => void): () => void;
  close(): void;
}

/** One function per call; requests are already checked, replies are checked by the transport. */
export type Handlers = { [N in CallName]: (request: Request<N>) => Promise<Reply<N>> };

export interface Service {
  /** Checks the request, runs the handler, checks the reply. Rejects with HalogenError. */
  handle(name: string, request: unknown): Promise<unknown>;
  subscribe(listener: (event: AnyEvent) => void): () => void;
}
