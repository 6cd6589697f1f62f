/**
 * A `Context` without a server, for unit tests of a handler or a middleware: readers, cookies, params and Koa's own members work as in a
 * request. What it answers is read off the context; nothing is sent. Where stages or the wire matter, use `testApp`.
 *
 * @example
 * const ctx = context({ method: "POST", url: "/links", json: { target: "https://example.com/" } });
 * const reply = await new LinksController(store).create(ctx);
 */
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Readable } from "node:stream";
import Koa from "koa";
import { encodeBody, type BodyOptions } from "./transport.js";
import { RequestHandler } from "../server/request-handler.js";
import { DEFAULT_READ_LIMIT } from "../http/body-reader.js";
import { TrustedProxies } from "../http/client-address.js";
import { SystemClock, type Clock } from "../runtime/clock.js";
import type { Context } from "../http/context.js";

/**
 * Node's request and response without a connection: what was asked can be read, what is answered goes nowhere.
 */
export interface FakeRequestOptions extends BodyOptions {
  /** GET unless given. */
  readonly method?: string;
  /** Path and query; `/` unless given. */
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The peer's address; 127.0.0.1 unless given. */
  readonly ip?: string;
}

type Field = readonly [name: string, value: string | readonly string[]];

export function fakeRequest({
  method = "GET",
  url = "/",
  headers = {},
  ip = "127.0.0.1",
  ...rest
}: FakeRequestOptions): {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
} {
  const { content, type } = encodeBody(rest);
  const incoming = new IncomingMessage(socketOf(ip));
  Object.assign(incoming, { method, url, httpVersion: "1.1", httpVersionMajor: 1, httpVersionMinor: 1 });
  Object.assign(incoming, headersOf([["Host", "localhost"], ...describe(content, type), ...Object.entries(headers)]));
  feed(incoming, content);
  return { incoming, response: new ServerResponse(incoming) };
}

function socketOf(ip: string): Socket {
  return Object.defineProperty(new Socket(), "remoteAddress", { value: ip });
}

function describe(content: Buffer | Readable | undefined, type: string | undefined): Field[] {
  const fields: Field[] = type === undefined ? [] : [["Content-Type", type]];
  if (content instanceof Readable) fields.push(["Transfer-Encoding", "chunked"]);
  else if (content !== undefined) fields.push(["Content-Length", String(content.length)]);
  return fields;
}

/** The three views that Node gives of a request's headers; a later field replaces an earlier one of the same name. */
function headersOf(fields: readonly Field[]): Pick<IncomingMessage, "headers" | "headersDistinct" | "rawHeaders"> {
  const distinct = new Map(fields.map(([name, value]) => [name.toLowerCase(), [value].flat()]));
  const joined = [...distinct].map(([name, values]) => [name, joinedOf(name, values)]);
  return {
    headers: Object.assign(Object.create(null), Object.fromEntries(joined)),
    headersDistinct: Object.assign(Object.create(null), Object.fromEntries(distinct)),
    rawHeaders: [...distinct].flatMap(([name, values]) => values.flatMap((value) => [name, value])),
  };
}

function joinedOf(name: string, values: readonly string[]): string | readonly string[] {
  return name === "set-cookie" ? values : values.join(name === "cookie" ? "; " : ", ");
}

function feed(incoming: IncomingMessage, content: Buffer | Readable | undefined): void {
  const finish = (): void => {
    incoming.complete = true;
    incoming.push(null);
  };
  // Node's own `_read` resumes the socket; here there is none to resume.
  incoming._read = () => {};
  if (content instanceof Readable) {
    content.on("data", (chunk: Buffer) => incoming.push(chunk)).once("end", finish);
    content.once("error", (error) => incoming.destroy(error));
  } else {
    if (content !== undefined) incoming.push(content);
    finish();
  }
}

export interface ContextOptions<Names extends string = never> extends FakeRequestOptions {
  /** The captures a router would have bound. */
  readonly params?: Readonly<Record<Names, string>>;
  /** As for `.trustedProxies(list)`. */
  readonly trustedProxies?: string;
  readonly clock?: Clock;
}

export function context<Names extends string = never>(options: ContextOptions<Names> = {}): Context<Names> {
  const { params, clock = new SystemClock(), trustedProxies, ...request } = options;
  const proxies = TrustedProxies.parse(trustedProxies);
  const entrance = new RequestHandler({ app: new Koa(), clock, proxies, readLimit: DEFAULT_READ_LIMIT });
  const { incoming, response } = fakeRequest(request);
  let made: Context | undefined;
  entrance.setHandler((ctx) => (made = ctx));
  entrance.request(incoming, response);
  if (made === undefined) throw new TypeError("the entrance did not let the request in");
  if (params !== undefined) made.bindParams(params);
  // Its names are those of the params just bound.
  return made as Context<Names>;
}
