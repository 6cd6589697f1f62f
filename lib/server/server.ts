/**
 * The HTTP server of an application: Node's, with the framework's limits. Requests that Node's parser refuses (malformed, head too large
 * or too slow), and those that it accepts although it should not, are refused here without a context and outside the pipeline.
 */
import type http from "node:http";
import { FrameworkRequest } from "../http/connection/connection.js";
import { FrameworkResponse } from "../http/response/head.js";
import { nodeHttp } from "../runtime/node-http.js";
import { ConnectionRefusals } from "./connection-refusal.js";
import { refuseUnclaimedUpgrades } from "./unclaimed-upgrades.js";

const BAD_REQUEST = "400 Bad Request";
const HEAD_TOO_LARGE = "431 Request Header Fields Too Large";

const SETTINGS: http.ServerOptions<typeof FrameworkRequest, typeof FrameworkResponse> = {
  IncomingMessage: FrameworkRequest,
  ServerResponse: FrameworkResponse,
  headersTimeout: 60_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  // `findFault` checks it, because the refusal of Node differs from those of its parser.
  requireHostHeader: false,
};

/** Node's limit if `maxHeadersCount` is not set. */
const DEFAULT_HEADER_LINES = 1000;

/** A host with an optional port, or an empty value (RFC 9110 section 7.2, RFC 3986 section 3.2.2). */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\w.~!$&'()*+,;=:-]+\])(?::\d*)?$/;

export interface RequestListener {
  /** The application handles every failure, so the server does not wait for a result. */
  handleRequest(incoming: http.IncomingMessage, response: http.ServerResponse): unknown;
  /** The request asks for `100 Continue` before it sends its body. */
  handleContinue(incoming: http.IncomingMessage, response: http.ServerResponse): void;
}

export function createServer(listener: RequestListener): http.Server {
  const server = nodeHttp.createServer(SETTINGS);
  const refusals = attach(server, listener, true);
  // Node would close at once, before the pending responses of the connection are sent.
  server.on("connect", (_incoming, socket) => refusals.refuse(socket, undefined, { code: "CONNECT" }));
  return server;
}

/** Makes an existing server serve the application. The server keeps its settings. */
export function attach(server: http.Server, listener: RequestListener, requiresHost = false): ConnectionRefusals {
  const refusals = new ConnectionRefusals();
  const accepts = (incoming: http.IncomingMessage, response: http.ServerResponse): boolean => {
    const fault = findFault(incoming, { requiresHost, maxLines: getMaxHeaderLines(server) });
    if (fault !== undefined) refusals.refuse(incoming.socket, fault, { replacedResponse: response });
    // The set is nearly always empty, and then no function is called.
    return refusals.refused.size === 0 || !refusals.has(incoming.socket);
  };
  server.on("request", (incoming, response) => {
    if (accepts(incoming, response)) listener.handleRequest(incoming, response);
  });
  server.on("checkContinue", (incoming, response) => {
    if (accepts(incoming, response)) listener.handleContinue(incoming, response);
  });
  server.on("checkExpectation", ({ socket }, response) => {
    refusals.refuse(socket, "417 Expectation Failed", { replacedResponse: response });
  });
  server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, socket) => {
    refusals.refuse(socket, getParserStatus(code), { code });
  });
  refuseUnclaimedUpgrades(server, refusals);
  return refusals;
}

/** 0 means no limit. */
function getMaxHeaderLines({ maxHeadersCount }: http.Server): number {
  if (maxHeadersCount === null) return DEFAULT_HEADER_LINES;
  return maxHeadersCount > 0 ? maxHeadersCount : Infinity;
}

function getParserStatus(code: string): string | undefined {
  // Bytes after a request with `Connection: close`. Its response is the last one.
  if (code === "HPE_CLOSED_CONNECTION") return undefined;
  if (code === "HPE_HEADER_OVERFLOW") return HEAD_TOO_LARGE;
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "408 Request Timeout";
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return "413 Payload Too Large";
  return BAD_REQUEST;
}

interface HeadLimits {
  /** HTTP/1.1 requests without `Host` are refused. */
  readonly requiresHost: boolean;
  /** The number of header lines that the parser keeps. It drops the others without an error. */
  readonly maxLines: number;
}

/**
 * The status for a request that the parser accepts but the application must not see: another HTTP version, a missing, repeated or
 * malformed `Host`, a transfer coding that Node does not decode, a head of which the parser has dropped lines. Else `undefined`.
 */
function findFault(incoming: http.IncomingMessage, { requiresHost, maxLines }: HeadLimits): string | undefined {
  if (incoming.rawHeaders.length > 2 * maxLines) return HEAD_TOO_LARGE;
  const { httpVersionMajor, httpVersionMinor, headers } = incoming;
  const isCurrent = httpVersionMinor === 1;
  if (httpVersionMajor !== 1 || !hasValidHost(incoming, requiresHost && isCurrent)) return BAD_REQUEST;
  const coding = headers["transfer-encoding"];
  // HTTP/1.0 has no transfer codings, so the framing of such a request cannot be trusted (RFC 9112 section 6.1).
  return coding === undefined || (isCurrent && coding.toLowerCase() === "chunked") ? undefined : BAD_REQUEST;
}

function hasValidHost({ headers: { host }, rawHeaders }: http.IncomingMessage, isRequired: boolean): boolean {
  if (host === undefined) return !isRequired;
  return HOST.test(host) && countHostLines(rawHeaders) === 1;
}

/** Node keeps the first `Host` of several. A proxy in front may have used another one (RFC 9112 section 3.2). */
function countHostLines(rawHeaders: readonly string[]): number {
  let lines = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === "host") lines += 1;
  }
  return lines;
}
