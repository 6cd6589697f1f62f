/**
 * The HTTP server under an application: Node's, with the limits that the framework promises. What Node's parser refuses (a malformed
 * request, a head that is too large or too slow) and what it should have refused is answered in the parser's way, outside the pipeline.
 */
import http, { type IncomingMessage } from "node:http";
import { OwnRequest } from "../http/connection.js";
import { ConnectionRefusals } from "./connection-refusal.js";

/**
 * What Node's parser lets pass and no application should see: a version that is not spoken here, a host that is missing, doubled or
 * none, a body in a coding that nobody undoes, a head of which the parser has dropped lines. Answered as the parser answers.
 */
export interface HeadLimits {
  /** Whether a request of HTTP/1.1 without `Host` is refused. */
  readonly requiresHost: boolean;
  /** Header lines that the parser keeps; it drops the others without a word. */
  readonly maxLines: number;
}

const BAD_REQUEST = "400 Bad Request";
const HEAD_TOO_LARGE = "431 Request Header Fields Too Large";

/** A host and a port, or nothing (RFC 9110 section 7.2, RFC 3986 section 3.2.2). */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\w.~!$&'()*+,;=:-]+\])(?::\d*)?$/;

/** The status line's end for a request that must not be served; `undefined` for one that may. */
export function faultOf(incoming: IncomingMessage, { requiresHost, maxLines }: HeadLimits): string | undefined {
  if (incoming.rawHeaders.length > 2 * maxLines) return HEAD_TOO_LARGE;
  const { httpVersionMajor, httpVersionMinor, headers } = incoming;
  const isCurrent = httpVersionMinor === 1;
  if (httpVersionMajor !== 1 || !isHost(incoming, requiresHost && isCurrent)) return BAD_REQUEST;
  const coding = headers["transfer-encoding"];
  // HTTP/1.0 has none: who sends one all the same cannot be trusted with it (RFC 9112 section 6.1).
  return coding === undefined || (isCurrent && coding.toLowerCase() === "chunked") ? undefined : BAD_REQUEST;
}

function isHost({ headers: { host }, rawHeaders }: IncomingMessage, isRequired: boolean): boolean {
  if (host === undefined) return !isRequired;
  return HOST.test(host) && linesNamedHost(rawHeaders) === 1;
}

/** Of several Node keeps the first; which of them a proxy in front has gone by, nobody knows (RFC 9112 section 3.2). */
function linesNamedHost(rawHeaders: readonly string[]): number {
  let lines = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === "host") lines += 1;
  }
  return lines;
}

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

export interface RequestListener {
  request(incoming: http.IncomingMessage, response: http.ServerResponse): void;
  /** The request asks for `100 Continue` before it sends its body. */
  continue(incoming: http.IncomingMessage, response: http.ServerResponse): void;
}

export function createServer(listener: RequestListener): http.Server {
  const server = http.createServer(SETTINGS);
  const farewells = attach(server, listener, true);
  // Node would close at once, under the answers that are still owed.
  server.on("connect", (_incoming, socket) => farewells.say(socket, undefined, { code: "CONNECT" }));
  return server;
}

/** Has a server that exists already served by the application; its own settings stay. */
export function attach(server: http.Server, listener: RequestListener, requiresHost = false): ConnectionRefusals {
  const farewells = new ConnectionRefusals();
  const admits = (incoming: http.IncomingMessage, response: http.ServerResponse): boolean => {
    const fault = faultOf(incoming, { requiresHost, maxLines: headerLines(server) });
    if (fault !== undefined) farewells.say(incoming.socket, fault, { instead: response });
    return farewells.leaving.size === 0 || !farewells.include(incoming.socket);
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
