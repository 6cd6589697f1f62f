/**
 * The HTTP server under an application: Node's, with the limits that the framework promises, and the answers that Node's parser
 * gives on its own (a malformed request, a head that is too large or too slow, an unknown expectation).
 */
import http from "node:http";
import type { Duplex } from "node:stream";
import { messageOn } from "../kernel/connection.js";
import { tracing } from "../kernel/tracing.js";

const log = tracing.target("framework::http::server");

const SETTINGS: http.ServerOptions = {
  headersTimeout: 60_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
};

/** How long a socket may take to take in the parser's refusal. */
const GOODBYE_MS = 2000;

export interface Listener {
  request(incoming: http.IncomingMessage, response: http.ServerResponse): void;
  /** The request asks for `100 Continue` before it sends its body. */
  continue(incoming: http.IncomingMessage, response: http.ServerResponse): void;
}

export function createServer(listener: Listener): http.Server {
  const server = http.createServer(SETTINGS);
  attach(server, listener);
  return server;
}

/** Has a server that exists already served by the application. */
export function attach(server: http.Server, listener: Listener): void {
  server.on("request", (incoming, response) => listener.request(incoming, response));
  server.on("checkContinue", (incoming, response) => listener.continue(incoming, response));
  server.on("checkExpectation", (incoming) => {
    log.debug("refused by the parser", { status: 417 });
    sayGoodbye(incoming.socket, "417 Expectation Failed");
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => refuse(error, socket));
}

function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  // An answer that has begun cannot be followed by another; what failed about it is told elsewhere.
  if (!socket.writable || hasBegunAnswer(socket)) {
    socket.destroy(error);
    return;
  }
  const status = statusOf(error.code);
  log.debug("refused by the parser", { status: Number.parseInt(status, 10), code: error.code ?? "" });
  sayGoodbye(socket, status);
}

function statusOf(code: string | undefined): string {
  if (code === "HPE_HEADER_OVERFLOW") return "431 Request Header Fields Too Large";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "408 Request Timeout";
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return "413 Payload Too Large";
  return "400 Bad Request";
}

function hasBegunAnswer(socket: Duplex): boolean {
  return messageOn(socket)?.headersSent === true;
}

function sayGoodbye(socket: Duplex, status: string): void {
  const timer = setTimeout(() => socket.destroy(), GOODBYE_MS);
  timer.unref();
  socket.once("close", () => clearTimeout(timer));
  socket.on("error", () => socket.destroy());
  // What the client still sends is thrown away, so that the kernel does not reset the connection under the answer.
  socket.removeAllListeners("data");
  socket.resume();
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
}
