/**
 * The listener of Koa, and the requests that ask for `100 Continue` before they send their body. The `100` is sent at the first read of the
 * body, so that a refusal before that read is the only response (RFC 9110 section 10.1.1).
 */
import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { RequestListener } from "./server.js";

export class RequestHandler implements RequestListener {
  /** @param handleRequest the listener of Koa */
  constructor(readonly handleRequest: RequestListener["handleRequest"]) {}

  /** A listener for `request` and for `checkContinue` of servers of the caller. Node sends no `100 Continue` before the second one. */
  createListener(): (this: unknown, incoming: IncomingMessage, response: ServerResponse) => void {
    const serve = (server: unknown, incoming: IncomingMessage, response: Http2Response): void => {
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

const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

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
