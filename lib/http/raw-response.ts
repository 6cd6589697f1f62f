/**
 * Handing out Node's response. From then on anyone may write the head by hand, so the stages' headers are added in the moment
 * Node writes it (the promise that they are on every answer holds for those too).
 */
import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { Exchange } from "./exchange.js";
import { NodeHead, checkStatusMessage } from "./head.js";
import { keepFlow } from "../tracing/flow.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::http::send");

export function handOutResponse(exchange: Exchange): void {
  const { raw } = exchange;
  exchange.mirror();
  if (exchange.exposed) return;
  exchange.exposed = true;
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
  exchange.deafenIfSealed();
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

/**
 * Node's response of an answer that was decided over its handler's head. The handler may hold it, and so may whatever it has started:
 * from now on it does nothing for them, and has closed as far as they can see, so that what is piped into it is let go of. The
 * framework writes the answer through a hand of its own.
 */
const WRITES = [
  "addTrailers",
  "appendHeader",
  "cork",
  "destroy",
  "end",
  "flushHeaders",
  "removeHeader",
  "setHeader",
  "setHeaders",
  "uncork",
  "write",
  "writeContinue",
  "writeEarlyHints",
  "writeHead",
  "writeProcessing",
] as const;

/** Makes `raw` deaf to everyone but to whoever uses what this returns in its place; `reason` is what callbacks are told. */
export function detachResponse(raw: ServerResponse, reason: Error): ServerResponse {
  const hand = new Hand(reason);
  for (const name of WRITES) muteMethod(raw, name, hand);
  for (const name of ["statusCode", "statusMessage"]) muteProperty(raw, name, hand);
  raw.on("pipe", (source: Readable) => void (hand.isAtWork || source.destroy()));
  // Not at once: what listens may throw.
  if (!raw.headersSent) queueMicrotask(() => raw.emit("close"));
  return new Proxy(raw, hand);
}

/** What is done through it counts, and so does what Node and other people's methods do on the way. */
class Hand implements ProxyHandler<ServerResponse> {
  isAtWork = false;

  constructor(readonly reason: Error) {}

  get(raw: ServerResponse, name: string | symbol): unknown {
    const value: unknown = Reflect.get(raw, name);
    if (typeof value !== "function") return value;
    return (...args: unknown[]): unknown => this.work(() => Reflect.apply(value, raw, args) as unknown);
  }

  set(raw: ServerResponse, name: string | symbol, value: unknown): boolean {
    return this.work(() => Reflect.set(raw, name, value));
  }

  private work<T>(act: () => T): T {
    const before = this.isAtWork;
    this.isAtWork = true;
    try {
      return act();
    } finally {
      this.isAtWork = before;
    }
  }
}

function muteMethod(raw: ServerResponse, name: string, hand: Hand): void {
  const method: unknown = Reflect.get(raw, name);
  if (typeof method !== "function") return;
  const muted = (...args: unknown[]): unknown => {
    if (hand.isAtWork) return Reflect.apply(method, raw, args) as unknown;
    const done = args.at(-1);
    if (typeof done === "function") process.nextTick(done, hand.reason);
    return name === "write" ? false : raw;
  };
  Object.defineProperty(raw, name, { value: muted, configurable: true, writable: true });
}

function muteProperty(raw: ServerResponse, name: string, hand: Hand): void {
  let value: unknown = Reflect.get(raw, name);
  Object.defineProperty(raw, name, {
    configurable: true,
    get: () => value,
    set: (other: unknown) => {
      if (hand.isAtWork) value = other;
    },
  });
}
