/** A server of keys that a spec turns honest, slow, hostile or silent. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";

export type Respond = (response: ServerResponse, request: IncomingMessage) => void;

export class KeyServer implements AsyncDisposable {
  requests = 0;
  respond: Respond = (response) => response.writeHead(503).end();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<KeyServer> {
    const server = createServer((request, response) => {
      keys.requests += 1;
      response.on("error", () => undefined);
      keys.respond(response, request);
    });
    const keys = new KeyServer(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return keys;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.origin}/keys`;
  }

  serve(document: unknown): void {
    this.respond = (response) => response.end(typeof document === "string" ? document : JSON.stringify(document));
  }

  serveKeys(...keys: readonly { readonly jwk: object }[]): void {
    this.serve({ keys: keys.map(({ jwk }) => jwk) });
  }

  fail(): void {
    this.respond = (response) => response.writeHead(500).end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}
