/**
 * Requests of HTTP/2. Node's compatibility layer ends the body of a cancelled stream as if it were whole, and takes a reason phrase.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import { ClientGoneError } from "../../errors/framework-error.js";
import { keepConnectionOpen } from "./unread-body.js";

/** Error codes of HTTP/2 (RFC 9113 section 7). They are not read from `node:http2`, which few applications need: it loads slowly. */
const HTTP2_NO_ERROR = 0x0;
const HTTP2_INTERNAL_ERROR = 0x2;

export function prepareHttp2(incoming: IncomingMessage, response: ServerResponse, stream: ServerHttp2Stream): void {
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
