/** One request, its response, or an upgraded connection, from one socket to another. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type NetConnectOpts, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { nodeHttp } from "../../runtime/node-http.js";

/** `undefined` where nothing listens. */
export function connectTo(to: NetConnectOpts): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(to);
    socket.once("connect", () => resolve(socket));
    socket.once("error", () => resolve(undefined));
  });
}

/** The response, without its body; `undefined` where the connection ends before it. */
export function exchange(
  socket: Socket,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<IncomingMessage | undefined> {
  const { method, url: path, headers } = incoming;
  return new Promise((resolve) => {
    const sent = nodeHttp.request({
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

/** Copies status, headers and body. */
export function copyResponse(response: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.writeHead(response.statusCode ?? 502, response.statusMessage, withoutConnection(response));
  response.on("error", () => outgoing.destroy()).pipe(outgoing);
}

interface Upgrade {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** The head goes on as it came: Vite compares the host, the origin and a token. @param sockets gets both ends while they are open */
export function tunnel({ incoming, socket, head }: Upgrade, other: Socket, sockets: Set<Duplex>): void {
  for (const [side, peer] of [
    [socket, other],
    [other, socket],
  ] as const) {
    sockets.add(side);
    side.on("error", () => peer.destroy());
    side.on("close", () => {
      sockets.delete(side);
      peer.destroy();
    });
  }
  other.on("connect", () => {
    other.write(formatHead(incoming), "latin1");
    other.write(head);
    other.pipe(socket).pipe(other);
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
