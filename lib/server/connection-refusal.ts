/**
 * Refuses a connection as Node's parser does: with a status line and `Connection: close`, then closes it. The refusal is sent in order,
 * after the pending responses of the connection (RFC 9112 section 9.3.2). Bytes that the client sends after the refusal are discarded;
 * unread bytes would make the kernel reset the connection, and the client could lose the response.
 *
 * For requests that never reach the pipeline. A request in the pipeline is refused with a problem document.
 */
import type { ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { SystemClock } from "../runtime/clock.js";
import { findCurrentResponse } from "../http/connection/connection.js";
import { discardBytes, halfClose } from "../http/connection/half-close.js";
import type { Fields } from "../tracing/subscriber.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::http::server");

const clock = new SystemClock();

export interface RefusalOptions {
  /** The response that the refusal replaces, if the parser has accepted the request. */
  readonly replacedResponse?: ServerResponse;
  /** Node's error code, for the log. */
  readonly code?: string;
}

/** The refused connections of one server. */
export class ConnectionRefusals {
  /** Refused connections that are still open. */
  readonly refused = new Set<Duplex>();

  /** True if the connection was refused. The parser may still report requests that came with the refused one; they are not served. */
  has(socket: Duplex): boolean {
    return this.refused.has(socket);
  }

  /** Sends `status`, for example `400 Bad Request`, and closes. Without a status it only closes. A second call has no effect. */
  refuse(socket: Duplex, status: string | undefined, { replacedResponse: instead, code }: RefusalOptions): void {
    if (socket.destroyed || this.refused.has(socket)) return;
    this.refused.add(socket);
    socket.once("close", () => this.refused.delete(socket)).on("error", () => socket.destroy());
    discardBytes(socket);
    // Node calls `destroySoon` after a response that closes the connection. The client may still send, so destroying would lose it.
    if (socket instanceof Socket) socket.destroySoon = () => halfClose(socket, clock);
    if (socket.writable) log.debug("refused by the parser", createLogFields(status, code));
    closeInOrder(socket, instead, status === undefined ? "" : `HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
  }
}

function createLogFields(status: string | undefined, code: string | undefined): Fields {
  return { ...(status !== undefined && { status: Number.parseInt(status, 10) }), ...(code !== undefined && { code }) };
}

/** Sends `text` after the pending responses of the connection, and closes. */
function closeInOrder(socket: Duplex, instead: ServerResponse | undefined, text: string): void {
  const current = findCurrentResponse(socket);
  if (current === undefined || current === instead) halfClose(socket, clock, text);
  else if (current.req.complete || current.writableEnded) {
    current.once("close", () => closeInOrder(socket, instead, text));
  } else if (!current.headersSent) halfClose(socket, clock, text);
  // The fault is in the body of a request whose response has started, so no second response can follow.
  else socket.destroy();
}
