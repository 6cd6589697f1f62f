/**
 * Layers around a handler on a real socket, without an application: for the specs of one stage. The error boundary and the last-resort
 * handler are in place, as in an application.
 */
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { RequestHandler } from "../../lib/server/request-handler.js";
import { createServer } from "../../lib/server/server.js";
import { respondWith } from "../../lib/http/response/returned-value.js";
import { TrustedProxies } from "../../lib/http/request/client-address.js";
import { type Clock, SystemClock } from "../../lib/runtime/clock.js";
import { compose } from "../../lib/http/compose.js";
import { KoaApplication } from "../../lib/http/koa/koa-application.js";
import type { Context } from "../../lib/http/request/context.js";
import type { Middleware } from "../../lib/http/middleware.js";
import { lastResortHandler, ErrorBoundary } from "../../lib/pipeline/error-boundary.js";
import { listening } from "./listening.js";

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly text: string;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string;
}

export class Stack implements AsyncDisposable {
  private constructor(
    private readonly server: http.Server,
    readonly port: number,
  ) {}

  /** The return value of the handler becomes the response, as for the handler of a route. */
  static async of(
    layers: readonly Middleware[],
    handler: (ctx: Context) => unknown = () => undefined,
    clock: Clock = new SystemClock(),
  ): Promise<Stack> {
    const stack = [...layers, new ErrorBoundary(() => {})];
    const chain = compose(stack, async (ctx) => respondWith(ctx, await handler(ctx)));
    const koa = new KoaApplication();
    koa.share({ clock, proxies: TrustedProxies.none, readLimit: 2_097_152 });
    koa.serveWith([], () => lastResortHandler(chain));
    const { server, port } = await listening(createServer(new RequestHandler(koa.callback())));
    return new Stack(server, port);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Sends a request. The path is sent unchanged, unlike with `fetch`. */
  async ask(path = "/", { method = "GET", headers = {}, body = "" }: AskOptions = {}): Promise<ReceivedResponse> {
    const request = http.request({ host: "127.0.0.1", port: this.port, path, method, headers, agent: false });
    request.end(body);
    // Node documents this one argument of the event.
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    const chunks: Buffer[] = [];
    // Without an encoding the chunks of a response are bytes.
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const { statusCode = 0, rawHeaders } = response;
    return { status: statusCode, headers: response.headers, rawHeaders, body: bytes, text: bytes.toString() };
  }

  /** Writes `bytes` to a new connection and returns the received text when the connection ends. */
  async raw(bytes: string): Promise<string> {
    const socket = net.connect(this.port, "127.0.0.1");
    socket.setEncoding("latin1");
    socket.write(bytes, "latin1");
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    if (this.server.listening) await once(this.server, "close");
  }
}

/** The values of a header that may be repeated, in order. */
export function valuesOf({ rawHeaders }: ReceivedResponse, name: string): string[] {
  return rawHeaders.filter((_value, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
}
