/**
 * Creates a context for each request of Node and passes it to the chain. An application has one handler, and separate classes for the
 * context and its Koa request and response. Their prototypes are `koa.context`, `koa.request` and `koa.response`, so members that
 * middleware adds there exist in this application only.
 */
import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type Koa from "koa";
import { ClientGoneError } from "../errors/framework-error.js";
import type { TrustedProxies } from "../http/request/client-address.js";
import type { Clock } from "../runtime/clock.js";
import { Connection, Connections, isQueued } from "../http/connection/connection.js";
import { Context } from "../http/request/context.js";
import { KoaRequestFace, KoaResponseFace } from "../http/koa/koa-faces.js";
import type { UnhandledErrorReporter, UploadReader } from "../http/request/exchange.js";
import { NO_UPLOADS } from "../http/body/uploads.js";
import { keepConnectionOpen } from "../http/connection/unread-body.js";
import type { RequestListener } from "./server.js";

/** The values that all contexts of one application share. */
export interface SharedContextValues {
  readonly app: Koa;
  readonly clock: Clock;
  readonly proxies: TrustedProxies;
  readonly readLimit: number;
  /** `undefined`: `ctx.uploads` throws. */
  readonly uploadReader?: UploadReader | undefined;
}

/** The chain inside the last-resort handler: it never throws and never rejects. */
export type RequestChain = (ctx: Context) => void;

export class RequestHandler implements RequestListener {
  readonly connections = new Connections();
  private readonly ContextClass: typeof Context;
  private readonly clock: Clock;

  private chain: RequestChain = refuseAll;

  constructor(shared: SharedContextValues) {
    this.ContextClass = createContextClass(shared);
    this.clock = shared.clock;
  }

  /** Sets the chain of all requests from now on. */
  setChain(chain: RequestChain): void {
    this.chain = chain;
  }

  /** Calls `reportUnhandled` for unhandled errors while there is no log subscriber. */
  reportUnhandledTo(reportUnhandled: UnhandledErrorReporter): void {
    Object.assign(this.ContextClass.prototype, { reportUnhandled });
  }

  handleRequest(incoming: IncomingMessage, response: ServerResponse): void {
    const connection = Connection.of(incoming, this.connections);
    if (connection.stream === undefined) connection.addResponse(response);
    if (connection.wasReset) incoming.socket.destroy();
    else if (connection.stream !== undefined || !isQueued(response)) this.start(incoming, response, connection);
    else connection.start(response, this.clock, () => this.start(incoming, response, connection));
  }

  private start(incoming: IncomingMessage, response: ServerResponse, connection: Connection): void {
    if (!connection.isClosing) this.chain(new this.ContextClass(incoming, response, connection));
  }

  /** A listener for `request` and for `checkContinue` of servers of the caller. Node sends no `100 Continue` before the second one. */
  createListener(): (this: unknown, incoming: IncomingMessage, response: ServerResponse) => void {
    const serve = (server: unknown, incoming: IncomingMessage, response: Http2Response): void => {
      if (response.stream !== undefined) prepareHttp2(incoming, response, response.stream);
      const mustContinue = (): boolean =>
        server instanceof EventEmitter && server.listeners("checkContinue").includes(listener);
      if (asksForContinue(incoming, response) && mustContinue()) this.handleContinue(incoming, response);
      else this.handleRequest(incoming, response);
    };
    const listener = function (this: unknown, incoming: IncomingMessage, response: ServerResponse): void {
      serve(this, incoming, response);
    };
    return listener;
  }

  handleContinue(incoming: IncomingMessage, response: ServerResponse): void {
    sendContinueOnRead(incoming, response);
    this.handleRequest(incoming, response);
  }
}

interface Http2Response extends ServerResponse {
  /** The stream of an HTTP/2 request. */
  readonly stream?: ServerHttp2Stream;
}

function asksForContinue({ headers, httpVersion }: IncomingMessage, { stream }: Http2Response): boolean {
  return (
    headers.expect !== undefined && (httpVersion === "1.1" || stream !== undefined) && CONTINUE.test(headers.expect)
  );
}

/** Error codes of HTTP/2 (RFC 9113 section 7). They are not read from `node:http2`, which few applications need: it loads slowly. */
const HTTP2_NO_ERROR = 0x0;
const HTTP2_INTERNAL_ERROR = 0x2;

function prepareHttp2(incoming: IncomingMessage, response: ServerResponse, stream: ServerHttp2Stream): void {
  // HTTP/2 has no reason phrase (RFC 9113 section 8.3.2). Node warns when one is set, even an empty one.
  Object.defineProperty(response, "statusMessage", { value: "", writable: true });
  const destroy = response.destroy.bind(response);
  // Node would end the body as if it were whole (RFC 9113 section 8.1).
  response.destroy = (error) => {
    if (!stream.closed) stream.close(HTTP2_INTERNAL_ERROR);
    return destroy(error);
  };
  if (stream.endAfterHeaders) return;
  // Node ends the body of a cancelled stream as if it were whole.
  keepConnectionOpen(incoming);
  const push = incoming.push.bind(incoming);
  incoming.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk !== null || stream.rstCode === HTTP2_NO_ERROR) return push(chunk, encoding);
    incoming.destroy(new ClientGoneError());
    return false;
  };
  stream.once("finish", () => setImmediate(releaseBody, incoming, stream));
}

/**
 * The response is complete, so the client need not send the rest of its body (RFC 9113 section 8.1). Node closes the stream of a body that
 * was not read. A body that was read in part would keep its stream open until it is read to the end.
 */
function releaseBody(incoming: IncomingMessage, stream: ServerHttp2Stream): void {
  if (incoming.readableFlowing === null) return;
  stream.close(HTTP2_NO_ERROR);
  incoming.resume();
}

const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

/** The chain before `setChain` is called. */
function refuseAll(ctx: Context): void {
  ctx.raw.writeHead(503, { "Retry-After": "1", "Content-Length": "0" }).end();
  ctx.finish();
}

/** Sends the `100` at the first read of the body. A refusal before that read is the only response (RFC 9110 section 10.1.1). */
function sendContinueOnRead(incoming: IncomingMessage, response: ServerResponse): void {
  const read = incoming._read.bind(incoming);
  incoming._read = (size) => {
    incoming._read = read;
    if (response.socket === null) writeContinueWhenCurrent(incoming, response);
    else writeContinue(response);
    read(size);
  };
}

/**
 * Sends the `100` after the earlier responses of the connection. Node would delay it, and write the head before it if the body is bytes.
 */
function writeContinueWhenCurrent({ headers }: IncomingMessage, response: ServerResponse): void {
  // By default Node closes the connection after a response whose request body arrived without the `100`.
  if (!response.headersSent && !/close/i.test(headers.connection ?? "")) response.setHeader("Connection", "keep-alive");
  response.once("socket", () => writeContinue(response));
}

function writeContinue(response: ServerResponse): void {
  if (!response.headersSent) response.writeContinue();
}

function createContextClass(shared: SharedContextValues): typeof Context {
  class ApplicationContext<Names extends string = never> extends Context<Names> {}
  class RequestFace extends KoaRequestFace {}
  class ResponseFace extends KoaResponseFace {}
  const { app, uploadReader = NO_UPLOADS } = shared;
  app.context = copyAddedMembers(ApplicationContext.prototype, app.context);
  app.request = copyAddedMembers(RequestFace.prototype, app.request);
  app.response = copyAddedMembers(ResponseFace.prototype, app.response);
  Object.assign(ApplicationContext.prototype, shared, { uploadReader, RequestFace, ResponseFace });
  return ApplicationContext;
}

/** Keeps the members that were added to Koa's object before. */
function copyAddedMembers<T extends object>(prototype: object, added: T): T {
  // The prototype inherits the members of Koa's object, and has the added ones.
  return Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(added)) as T;
}
