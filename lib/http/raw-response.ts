/**
 * Handing out Node's response. From then on anyone may write the head by hand, so the stages' headers are added in the moment
 * Node writes it (the promise that they are on every answer holds for those too).
 */
import type { ServerResponse } from "node:http";
import type { Exchange } from "./exchange.js";
import { NodeHead, checkStatusMessage } from "./head.js";
import { keepFlow } from "../tracing/flow.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::http::send");

export function handOutResponse(exchange: Exchange): void {
  const { raw } = exchange;
  exchange.mirror();
  if (exchange.isShared) return;
  keepFlow(raw);
  listenForFailure(exchange);
  const writeHead = raw.writeHead.bind(raw);
  // The overloads of writeHead are passed through as they come.
  raw.writeHead = ((...args: Parameters<ServerResponse["writeHead"]>) => {
    const [asked, ...rest] = args;
    // As Node reads it.
    const status = Math.trunc(asked);
    const reason = typeof rest[0] === "string" ? rest[0] : raw.statusMessage;
    // What Node refuses is no answer that anyone could be told of.
    if (!raw.headersSent && status >= 100 && status <= 999) {
      if (reason) checkStatusMessage(reason);
      setAll(raw, rest.at(-1));
      raw.statusCode = status;
      exchange.completeHead(new NodeHead(raw));
    }
    return typeof rest[0] === "string" ? writeHead(asked, rest[0]) : writeHead(asked);
  }) as ServerResponse["writeHead"];
  exchange.share();
}

/** Node reports here what is written after the end, for example, and would end the process where nobody listens. */
function listenForFailure(exchange: Exchange): void {
  let isTold = false;
  exchange.raw.on("error", (error) => {
    const { raw } = exchange;
    if (!raw.headersSent) {
      exchange.lateError ??= { error };
      return;
    }
    if (!isTold) log.error("response failed", { error, status: raw.statusCode });
    isTold = true;
    raw.destroy();
  });
}

function setAll(raw: ServerResponse, headers: unknown): void {
  if (typeof headers !== "object" || headers === null) return;
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) raw.setHeader(name, value);
    return;
  }
  const flat: unknown[] = headers.flat();
  for (let at = 0; at < flat.length; at += 2) raw.removeHeader(String(flat[at]));
  for (let at = 0; at < flat.length; at += 2) raw.appendHeader(String(flat[at]), String(flat[at + 1]));
}
