/**
 * What Node's parser lets pass and no application should see: a version that is not spoken here, a host that is missing, doubled or
 * none, a body in a coding that nobody undoes, a head of which the parser has dropped lines. Answered as the parser answers.
 */
import type { IncomingMessage } from "node:http";

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
