/**
 * Gives Node's response to the application. From then on the application may write the head by hand, so stages add their headers when Node
 * writes it: they are on these responses too. For the response after a stage has responded in the handler's place see `detached-response`.
 */
import type { ServerResponse } from "node:http";
import type { Exchange } from "../request/exchange.js";
import { checkStatusMessage } from "./head.js";
import { NodeHead } from "./response-head.js";
import { bindFlow } from "../../tracing/flow.js";
import { notifyErrorListeners } from "../koa/error-events.js";
import { tracing } from "../../tracing/tracing.js";

const log = tracing.target("framework::http::send");

export function exposeResponse(exchange: Exchange): void {
  const { raw } = exchange;
  exchange.mirror();
  if (exchange.isExposed) return;
  bindFlow(raw);
  listenForFailure(exchange);
  const writeHead = raw.writeHead.bind(raw);
  const write = raw.write.bind(raw);
  exchange.bodyMayBeStarted = raw.headersSent;
  // The overloads of writeHead are passed through as they come.
  raw.writeHead = ((...args: Parameters<ServerResponse["writeHead"]>) => {
    const [requestedStatus, ...rest] = args;
    // Node truncates the status too.
    const status = Math.trunc(requestedStatus);
    const reason = typeof rest[0] === "string" ? rest[0] : raw.statusMessage;
    // Node refuses other statuses, so stages must not see them.
    if (!raw.headersSent && status >= 100 && status <= 999) {
      if (reason) checkStatusMessage(reason);
      setHeaders(raw, rest.at(-1));
      raw.statusCode = status;
      exchange.completeHead(new NodeHead(raw));
    }
    return typeof rest[0] === "string" ? writeHead(requestedStatus, rest[0]) : writeHead(requestedStatus);
  }) as ServerResponse["writeHead"];
  raw.write = ((...args: Parameters<ServerResponse["write"]>) => {
    exchange.bodyMayBeStarted = true;
    return write(...args);
  }) as ServerResponse["write"];
  exchange.share();
}

/** Node reports failures here, for example a write after the end. Without a listener they would end the process. */
function listenForFailure(exchange: Exchange): void {
  let isLogged = false;
  exchange.raw.on("error", (error) => {
    const { raw } = exchange;
    if (!raw.headersSent) {
      exchange.lateError ??= { error };
      return;
    }
    if (!isLogged) {
      log.error("response failed", { error, status: raw.statusCode });
      notifyErrorListeners(exchange, error);
    }
    isLogged = true;
    raw.destroy();
  });
}

function setHeaders(raw: ServerResponse, headers: unknown): void {
  if (typeof headers !== "object" || headers === null) return;
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) raw.setHeader(name, value);
    return;
  }
  const flat: unknown[] = headers.flat();
  for (let at = 0; at < flat.length; at += 2) raw.removeHeader(String(flat[at]));
  for (let at = 0; at < flat.length; at += 2) raw.appendHeader(String(flat[at]), String(flat[at + 1]));
}
