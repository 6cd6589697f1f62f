/**
 * The HTTP server under an application: Node's, with the limits that the framework promises. What Node's parser refuses (a malformed
 * request, a head that is too large or too slow) and what it should have refused is answered in the parser's way, outside the pipeline.
 */
import http from "node:http";
import { OwnRequest } from "../http/connection.js";
import { Farewells } from "./farewells.js";
import { faultOf } from "./request-fault.js";

const SETTINGS: http.ServerOptions<typeof OwnRequest> = {
  IncomingMessage: OwnRequest,
  headersTimeout: 60_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  // Ours to refuse: Node's own answer has more in it than a parser's.
  requireHostHeader: false,
};

/** What Node's parser keeps where `maxHeadersCount` says nothing. */
const DEFAULT_HEADER_LINES = 1000;

export interface Listener {
  request(incoming: http.IncomingMessage, response: http.ServerResponse): void;
  /** The request asks for `100 Continue` before it sends its body. */
  continue(incoming: http.IncomingMessage, response: http.ServerResponse): void;
}

export function createServer(listener: Listener): http.Server {
  const server = http.createServer(SETTINGS);
  const farewells = attach(server, listener, true);
  // Node would close at once, under the answers that are still owed.
  server.on("connect", (_incoming, socket) => farewells.say(socket, undefined, { code: "CONNECT" }));
  return server;
}

/** Has a server that exists already served by the application; its own settings stay. */
export function attach(server: http.Server, listener: Listener, requiresHost = false): Farewells {
  const farewells = new Farewells();
  const admits = (incoming: http.IncomingMessage, response: http.ServerResponse): boolean => {
    const fault = faultOf(incoming, { requiresHost, maxLines: headerLines(server) });
    if (fault !== undefined) farewells.say(incoming.socket, fault, { instead: response });
    return !farewells.include(incoming.socket);
  };
  server.on("request", (incoming, response) => {
    if (admits(incoming, response)) listener.request(incoming, response);
  });
  server.on("checkContinue", (incoming, response) => {
    if (admits(incoming, response)) listener.continue(incoming, response);
  });
  server.on("checkExpectation", ({ socket }, response) => {
    farewells.say(socket, "417 Expectation Failed", { instead: response });
  });
  server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, socket) => {
    farewells.say(socket, statusOf(code), { code });
  });
  return farewells;
}

/** 0 is Node's word for all of them. */
function headerLines({ maxHeadersCount }: http.Server): number {
  if (maxHeadersCount === null) return DEFAULT_HEADER_LINES;
  return maxHeadersCount > 0 ? maxHeadersCount : Infinity;
}

function statusOf(code: string): string {
  if (code === "HPE_HEADER_OVERFLOW") return "431 Request Header Fields Too Large";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "408 Request Timeout";
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return "413 Payload Too Large";
  return "400 Bad Request";
}
