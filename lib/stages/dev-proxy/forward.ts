/**
 * Forwards a request to Vite over its socket or pipe, and copies the response: HTTP/1.1, all headers except those of the connection, the
 * bodies as streams.
 */
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { Problem } from "../../errors/problem.js";
import type { Context } from "../../http/request/context.js";
import { refuse } from "../../http/failures/refuse.js";
import { nodeHttp } from "../../runtime/node-http.js";
import { tracing } from "../../tracing/tracing.js";

const log = tracing.target("framework::dev_proxy");

/** Headers of one connection (RFC 9110 section 7.6.1). */
const CONNECTION_HEADERS = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

interface ForwardOptions {
  /** Whether a 404 of Vite is left to the application. */
  readonly leaves404?: boolean;
}

/** Returns whether Vite has responded. It is false if Vite is not running; then no byte of the request's body was read. */
export async function forward(
  ctx: Context,
  endpoint: string,
  { leaves404 = false }: ForwardOptions = {},
): Promise<boolean> {
  const outcome = await sendRequest(ctx, endpoint);
  if (outcome === "unreachable") return false;
  if (ctx.isClientGone) {
    if (outcome !== "failed") outcome.destroy();
    return true;
  }
  if (outcome === "failed") {
    refuse(ctx, Problem.of(502, "The development server ended the request."));
    return true;
  }
  if (leaves404 && outcome.statusCode === 404) {
    outcome.resume();
    return false;
  }
  copyResponse(ctx, outcome);
  return true;
}

type Outcome = IncomingMessage | "unreachable" | "failed";

function sendRequest(ctx: Context, endpoint: string): Promise<Outcome> {
  return new Promise((resolve) => {
    let isConnected = false;
    const outgoing = nodeHttp.request({
      socketPath: endpoint,
      method: ctx.method,
      path: ctx.url,
      headers: copyHeaders(ctx.incoming),
      setHost: false,
      agent: false,
    });
    outgoing.on("error", () => resolve(isConnected ? "failed" : "unreachable"));
    outgoing.on("response", resolve);
    // Node closes the connection without an error where the response is an upgrade.
    outgoing.on("close", () => resolve("failed"));
    const sendsBody = hasBody(ctx.incoming);
    outgoing.on("socket", (socket) =>
      socket.once("connect", () => {
        isConnected = true;
        // No byte of the body is read before the connection exists, so that the application may still respond.
        if (sendsBody) ctx.req.pipe(outgoing);
      }),
    );
    // A head without a body is one write. A second write, even an empty one, would fail if Vite has already responded and closed the
    // connection.
    if (!sendsBody) outgoing.end();
    // Without this call Node connects only at the first byte of a body.
    else outgoing.flushHeaders();
    ctx.onClientGone({ clientGone: () => void outgoing.destroy() });
  });
}

function copyResponse(ctx: Context, response: IncomingMessage): void {
  const { statusCode = 502, headersDistinct } = response;
  if (statusCode === 403) warnOfHost(ctx);
  ctx.clearBody();
  ctx.setStatus(statusCode);
  const named = listConnectionHeaders(response);
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    if (!CONNECTION_HEADERS.test(name) && !named.has(name))
      ctx.raw.setHeader(name, values.length === 1 ? (values[0] ?? "") : values);
  }
  ctx.setBody(response);
  // If Vite sent no type, the response has none.
  ctx.inferredType = undefined;
}

/** Vite refuses unknown hosts with a response that the developer mostly does not see. */
function warnOfHost({ host, path }: Context): void {
  log.warn("Vite refused the request: add the host to server.allowedHosts of its configuration", { host, path });
}

function copyHeaders(incoming: IncomingMessage): OutgoingHttpHeaders {
  const named = listConnectionHeaders(incoming);
  const headers: OutgoingHttpHeaders = {};
  for (const [name, values = []] of Object.entries(incoming.headersDistinct)) {
    if (!CONNECTION_HEADERS.test(name) && !named.has(name)) headers[name] = values.length === 1 ? values[0] : values;
  }
  if (hasBody(incoming) && headers["content-length"] === undefined) headers["transfer-encoding"] = "chunked";
  return headers;
}

function listConnectionHeaders({ headers: { connection = "" } }: IncomingMessage): ReadonlySet<string> {
  return new Set(connection.split(",").map((name) => name.trim().toLowerCase()));
}

function hasBody({ headers }: IncomingMessage): boolean {
  const { "content-length": length = "0", "transfer-encoding": coding } = headers;
  return length !== "0" || coding !== undefined;
}
