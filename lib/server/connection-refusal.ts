/**
 * Refusing a connection as Node's parser does: a status line, `Connection: close`, and nothing more. It is said in its turn, behind the
 * answers that the connection still owes (RFC 9112 section 9.3.2). What the client sends from the refusal on is thrown away, so that
 * the kernel does not reset the connection under the answer.
 */
import type { ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { SystemClock } from "../runtime/clock.js";
import { messageOn } from "../http/connection.js";
import { discardBytes, halfClose } from "../http/half-close.js";
import { tracing, type Fields } from "../tracing/tracing.js";

const log = tracing.target("framework::http::server");

const clock = new SystemClock();

export interface ConnectionRefusalOptions {
  /** The answer that it takes the place of, where the parser has let the request pass. */
  readonly instead?: ServerResponse;
  /** Node's code of what is wrong, for the log. */
  readonly code?: string;
}

export class ConnectionRefusals {
  /** Refused connections that are still open. */
  readonly leaving = new Set<Duplex>();

  /** Whether the connection was refused: requests that come out of what it had sent already are not served. */
  include(socket: Duplex): boolean {
    return this.leaving.has(socket);
  }

  /** Says `status`, or nothing at all, and closes; once a connection. */
  say(socket: Duplex, status: string | undefined, { instead, code }: ConnectionRefusalOptions): void {
    if (socket.destroyed || this.leaving.has(socket)) return;
    this.leaving.add(socket);
    socket.once("close", () => this.leaving.delete(socket)).on("error", () => socket.destroy());
    discardBytes(socket);
    // Node calls this behind an answer that closes the connection, which is then the last, and the client may still send.
    if (socket instanceof Socket) socket.destroySoon = () => halfClose(socket, clock);
    if (socket.writable) log.debug("refused by the parser", eventOf(status, code));
    inTurn(socket, instead, status === undefined ? "" : `HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
  }
}

function eventOf(status: string | undefined, code: string | undefined): Fields {
  return { ...(status !== undefined && { status: Number.parseInt(status, 10) }), ...(code !== undefined && { code }) };
}

function inTurn(socket: Duplex, instead: ServerResponse | undefined, words: string): void {
  const owed = messageOn(socket);
  if (owed === undefined || owed === instead) halfClose(socket, clock, words);
  else if (owed.req.complete || owed.writableEnded) owed.once("close", () => inTurn(socket, instead, words));
  else if (!owed.headersSent) halfClose(socket, clock, words);
  // What is wrong is the body of the very request that is being answered: nothing can follow that.
  else socket.destroy();
}
