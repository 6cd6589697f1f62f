/**
 * Tunnels the sockets of Vite's hot reload: an upgrade whose protocols name `vite-hmr` or `vite-ping` is sent to Vite unchanged, because
 * Vite compares the host, the origin and a token in the query. While Vite is down, the socket is closed at once, and the browser tries
 * again.
 */
import type { IncomingMessage, Server } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";

const PROTOCOLS: ReadonlySet<string> = new Set(["vite-hmr", "vite-ping"]);

/** Adds the tunnel to a server. Other upgrades are left to the other listeners; without other listeners they are refused. @internal */
export function tunnelUpgrades(server: Server, endpoint: string, draining: AbortSignal): void {
  server.on("upgrade", (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (isViteUpgrade(incoming)) tunnel(incoming, socket, head, { endpoint, draining });
    else if (server.listenerCount("upgrade") === 1)
      socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  });
}

function isViteUpgrade({ headers: { "sec-websocket-protocol": protocols = "" } }: IncomingMessage): boolean {
  return protocols.split(",").some((protocol) => PROTOCOLS.has(protocol.trim()));
}

interface TunnelOptions {
  readonly endpoint: string;
  readonly draining: AbortSignal;
}

function tunnel(incoming: IncomingMessage, socket: Duplex, head: Buffer, { endpoint, draining }: TunnelOptions): void {
  const vite: Socket = connect(endpoint);
  const close = (): void => {
    vite.destroy();
    socket.destroy();
    draining.removeEventListener("abort", close);
  };
  draining.addEventListener("abort", close);
  for (const side of [vite, socket]) side.on("error", close).on("close", close);
  vite.on("connect", () => {
    vite.write(formatHead(incoming), "latin1");
    vite.write(head);
    vite.pipe(socket).pipe(vite);
  });
}

/** The head as the client sent it. Node has checked that no field contains a line break. */
function formatHead({ method = "GET", url = "/", rawHeaders }: IncomingMessage): string {
  let text = `${method} ${url} HTTP/1.1\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) text += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`;
  return `${text}\r\n`;
}
