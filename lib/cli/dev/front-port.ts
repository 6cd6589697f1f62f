/**
 * The port that the browser sees during development. Requests go to the process that is ready, and wait while there is none. The sockets of
 * the hot reload go to Vite itself: through the application they would end with each restart, and the browser would load its page anew.
 *
 * Not for production: it trusts every client that asks for an allowed host, and bounds nothing.
 *
 * @example
 * const front = new FrontPort(state, { vite: "/tmp/vite.sock", hosts: new AllowedHosts([]) });
 * await front.listen(3000, "127.0.0.1");
 */
import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { connect, type NetConnectOpts } from "node:net";
import type { Duplex } from "node:stream";
import { nodeHttp } from "../../runtime/node-http.js";
import { describeRefusal, type AllowedHosts } from "./allowed-hosts.js";
import type { DevelopmentState } from "./development-state.js";
import { CHANGES_PATH, FAILURE_HEADERS, renderFailure } from "./failure.js";
import { connectTo, exchange, copyResponse, tunnel } from "./forwarding.js";

/** How long a request waits for a process that is ready. */
const HOLD_MS = 5000;

/** A process that refuses a connection has ended, which its end tells a moment later. */
const AGAIN_MS = 50;

const VITE_PROTOCOL = /\bvite-(?:hmr|ping)\b/u;

export interface FrontPortOptions {
  /** The socket or pipe of Vite; `undefined` for an application without a front end. */
  readonly vite: string | undefined;
  readonly hosts: AllowedHosts;
  /** How long a request waits for a process that is ready; 5 seconds unless set. */
  readonly holdMs?: number | undefined;
}

export class FrontPort {
  private readonly server: Server;
  private readonly sockets = new Set<Duplex>();
  private readonly vite: string | undefined;
  private readonly hosts: AllowedHosts;
  private readonly holdMs: number;
  /** The requests that wait for a process. */
  waiting = 0;

  constructor(
    private readonly state: DevelopmentState,
    { vite, hosts, holdMs = HOLD_MS }: FrontPortOptions,
  ) {
    this.vite = vite;
    this.hosts = hosts;
    this.holdMs = holdMs;
    this.server = nodeHttp.createServer((incoming, outgoing) => void this.respond(incoming, outgoing));
    // A development server has no limit for slow requests: a debugger may hold one.
    this.server.requestTimeout = 0;
    this.server.on("upgrade", (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.upgrade(incoming, socket, head);
    });
  }

  /** @param port 0 for any free port; the port that it listens on is the result */
  async listen(port: number, host: string): Promise<number> {
    this.server.listen(port, host);
    await once(this.server, "listening");
    const address = this.server.address();
    return typeof address === "object" && address !== null ? address.port : port;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
    for (const socket of this.sockets) socket.destroy();
  }

  private async respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { host, origin } = incoming.headers;
    if (!this.hosts.hasHost(host)) return sendRefusal(outgoing, host);
    const closed = new AbortController();
    outgoing.once("close", () => closed.abort());
    if (incoming.url?.startsWith(CHANGES_PATH) === true) {
      if (!this.hosts.hasOrigin(origin)) return sendRefusal(outgoing, origin);
      return this.sendChanges(incoming, outgoing, closed.signal);
    }
    const deadline = performance.now() + this.holdMs;
    while (!closed.signal.aborted) {
      const { port, failure } = this.state;
      if (failure !== undefined && (port === undefined || isDocument(incoming))) {
        if (await this.respondByVite(incoming, outgoing)) return;
        return this.sendFailure(incoming, outgoing);
      }
      const remainingMs = deadline - performance.now();
      if (remainingMs <= 0) break;
      const outcome =
        port === undefined ? "unreachable" : await forward(incoming, outgoing, { port, host: "127.0.0.1" });
      if (outcome === "responded") return;
      // A request without an effect is sent again if the process ends before it has responded.
      if (outcome === "failed" && !isSafe(incoming)) break;
      if (port === undefined && (await this.respondByVite(incoming, outgoing))) return;
      await this.wait(port === undefined ? remainingMs : Math.min(remainingMs, AGAIN_MS), closed.signal);
    }
    if (!closed.signal.aborted) sendUnavailable(outgoing);
  }

  /** Without an application Vite still serves the modules of an open page. */
  private async respondByVite(incoming: IncomingMessage, outgoing: ServerResponse): Promise<boolean> {
    if (this.vite === undefined || !isSafe(incoming) || isDocument(incoming)) return false;
    return (await forward(incoming, outgoing, { path: this.vite }, (status) => status !== 404)) === "responded";
  }

  private sendFailure(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { failure, version } = this.state;
    if (failure === undefined) return;
    if (isDocument(incoming)) outgoing.writeHead(500, FAILURE_HEADERS).end(renderFailure(failure, version));
    else {
      const headers = { ...FAILURE_HEADERS, "Content-Type": "text/plain; charset=utf-8" };
      outgoing.writeHead(500, headers).end(`${failure.title}\n\n${failure.text}\n`);
    }
  }

  /** One event when the state is no longer the one that the page shows. */
  private async sendChanges(incoming: IncomingMessage, outgoing: ServerResponse, closed: AbortSignal): Promise<void> {
    const seen = new URL(incoming.url ?? "/", "http://localhost").searchParams.get("seen");
    outgoing.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    // The browser learns that the stream is open.
    outgoing.write(":\n\n");
    while (!closed.aborted && String(this.state.version) === seen) await this.state.changed(HOLD_MS, closed);
    outgoing.end("data: changed\n\n");
  }

  private async upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    const { host, origin, "sec-websocket-protocol": protocol = "" } = incoming.headers;
    const isForVite = VITE_PROTOCOL.test(protocol);
    if (!this.hosts.hasHost(host)) return void socket.end(formatRefusal(host));
    // Each page of a browser may open a socket to every site; the application checks its sockets itself.
    if (isForVite && !this.hosts.hasOrigin(origin)) return void socket.end(formatRefusal(origin));
    const to = isForVite && this.vite !== undefined ? { path: this.vite } : await this.findApplication();
    if (to === undefined) socket.end("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\r\n");
    else tunnel({ incoming, socket, head }, connect(to), this.sockets);
  }

  private async wait(limitMs: number, closed?: AbortSignal): Promise<void> {
    this.waiting += 1;
    await this.state.changed(limitMs, closed);
    this.waiting -= 1;
  }

  private async findApplication(): Promise<NetConnectOpts | undefined> {
    const deadline = performance.now() + this.holdMs;
    for (;;) {
      const { port, failure } = this.state;
      const remainingMs = deadline - performance.now();
      if (port !== undefined) return { port, host: "127.0.0.1" };
      if (failure !== undefined || remainingMs <= 0) return undefined;
      await this.wait(remainingMs);
    }
  }
}

/** A request of the address bar or of a frame. A script and a program do not ask for HTML, or say that they are no document. */
function isDocument({ method, headers }: IncomingMessage): boolean {
  const destination = headers["sec-fetch-dest"] ?? "document";
  const isFramed = destination === "document" || destination === "iframe";
  return method === "GET" && isFramed && /\btext\/html\b/u.test(headers.accept ?? "");
}

function isSafe({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

function sendUnavailable(outgoing: ServerResponse): void {
  outgoing
    .writeHead(503, { "Content-Type": "text/plain", "Retry-After": "1" })
    .end("No process of the application is ready.\n");
}

function sendRefusal(outgoing: ServerResponse, host: string | undefined): void {
  outgoing
    .writeHead(403, {
      "Content-Type": "text/plain; charset=utf-8",
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "no-store",
      Connection: "close",
    })
    .end(describeRefusal(host));
}

function formatRefusal(host: string | undefined): string {
  return `HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${describeRefusal(host)}`;
}

type ForwardResult = "responded" | "unreachable" | "failed" | "declined";

/** Nothing of the request is sent before there is a connection. */
async function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  to: NetConnectOpts,
  accepts: (status: number) => boolean = () => true,
): Promise<ForwardResult> {
  const socket = await connectTo(to);
  if (socket === undefined) return "unreachable";
  const response = await exchange(socket, incoming, outgoing);
  if (response === undefined) return "failed";
  if (!accepts(response.statusCode ?? 0)) {
    response.destroy();
    return "declined";
  }
  copyResponse(response, outgoing);
  return "responded";
}
