/**
 * The port that the browser sees during development. Requests go to the application, and wait while it restarts. The sockets of the hot
 * reload go to Vite itself: through the application they would end with each restart, and the browser would load its page anew.
 *
 * Not for production: it trusts every client, and bounds nothing.
 *
 * @example
 * const port = new OnePort({ application: 41_000, vite: "/tmp/vite.sock" });
 * await port.listen(3000);
 */
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type NetConnectOpts, type Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface Behind {
  /** The port of the application. */
  readonly application: number;
  /** The socket or pipe of Vite; `undefined` for an application without a front end. */
  readonly vite: string | undefined;
}

/** How long a request waits for an application that restarts, and how often it tries, in milliseconds. */
const PATIENCE_MS = 15_000;
const AGAIN_MS = 50;

export class OnePort {
  private readonly server: Server;
  private readonly sockets = new Set<Duplex>();

  constructor(private readonly behind: Behind) {
    this.server = createServer((incoming, outgoing) => void this.respond(incoming, outgoing));
    this.server.on("upgrade", (incoming: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.tunnel(incoming, socket, head),
    );
  }

  /** @param port 0 for any free port; the port that it listens on is the result */
  async listen(port: number): Promise<number> {
    this.server.listen(port, "127.0.0.1");
    await once(this.server, "listening");
    const address = this.server.address();
    return typeof address === "object" && address !== null ? address.port : port;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
    for (const socket of this.sockets) socket.destroy();
  }

  /** A request without an effect is sent again if the application ends before it has responded. */
  private async respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    const isSafe = incoming.method === "GET" || incoming.method === "HEAD";
    let mayAskAgain = true;
    for (;;) {
      const socket = await this.application(deadline, outgoing);
      if (socket === undefined) break;
      const response = await asked(socket, incoming, outgoing);
      if (response?.statusCode === 503 && isSafe && ((await this.isBooting()) || mayAskAgain)) {
        // The start may have ended between the two questions.
        mayAskAgain = false;
        response.resume();
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      } else if (response !== undefined) {
        outgoing.writeHead(response.statusCode ?? 502, response.statusMessage, withoutConnection(response));
        response.on("error", () => outgoing.destroy()).pipe(outgoing);
        return;
      }
      if (!isSafe || outgoing.destroyed) break;
    }
    outgoing
      .writeHead(503, { "Content-Type": "text/plain", "Retry-After": "1" })
      .end("The application is not there.\n");
  }

  /** While its subsystems start, an application listens and refuses every request but those of the health endpoints. */
  private isBooting(): Promise<boolean> {
    return fetch(`http://127.0.0.1:${this.behind.application}/up/ready`).then(
      async (response) => (await response.text()).includes('"state":"booting"'),
      () => true,
    );
  }

  /** A connection to the application. Nothing of the request is sent before there is one. */
  private async application(deadline: number, outgoing: ServerResponse): Promise<Socket | undefined> {
    while (performance.now() < deadline && !outgoing.destroyed) {
      const socket = await connected({ port: this.behind.application, host: "127.0.0.1" });
      if (socket !== undefined) return socket;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
    return undefined;
  }

  /** The head goes on as it came: Vite compares the host, the origin and a token. */
  private tunnel(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { application, vite } = this.behind;
    const isVites = /\bvite-(?:hmr|ping)\b/.test(incoming.headers["sec-websocket-protocol"] ?? "");
    const other = isVites && vite !== undefined ? connect(vite) : connect(application, "127.0.0.1");
    for (const [side, peer] of [
      [socket, other],
      [other, socket],
    ] as const) {
      this.sockets.add(side);
      side.on("error", () => peer.destroy());
      side.on("close", () => {
        this.sockets.delete(side);
        peer.destroy();
      });
    }
    other.on("connect", () => {
      other.write(formatHead(incoming), "latin1");
      other.write(head);
      other.pipe(socket).pipe(other);
    });
  }
}

/** The response, without its body; `undefined` where the connection ends before it. */
function asked(
  socket: Socket,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<IncomingMessage | undefined> {
  const { method, url: path, headers } = incoming;
  return new Promise((resolve) => {
    const sent = request({
      createConnection: () => socket,
      method,
      path,
      headers: { ...headers, connection: "close" },
    });
    sent.on("response", resolve);
    sent.on("error", () => resolve(undefined));
    outgoing.on("close", () => sent.destroy());
    if (incoming.readableEnded) sent.end();
    else incoming.pipe(sent);
  });
}

/** `undefined` where nothing listens. */
function connected(to: NetConnectOpts): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(to);
    socket.once("connect", () => resolve(socket));
    socket.once("error", () => resolve(undefined));
  });
}

function withoutConnection({ rawHeaders }: IncomingMessage): string[] {
  const passedOn: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (!/^(?:connection|keep-alive|transfer-encoding)$/i.test(name)) passedOn.push(name, value);
  }
  return passedOn;
}

function formatHead({ method = "GET", url = "/", rawHeaders }: IncomingMessage): string {
  let text = `${method} ${url} HTTP/1.1\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) text += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`;
  return `${text}\r\n`;
}
