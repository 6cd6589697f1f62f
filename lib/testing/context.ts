/**
 * A `Context` without a server, for unit tests of a handler or a middleware. Body readers, cookies, params and the members of Koa work as
 * in a request. The test reads the response from the context; no bytes are sent. For a test of stages, or of the bytes that a client
 * receives, use `testApp`.
 *
 * @example
 * const ctx = context({ method: "POST", url: "/links", json: { target: "https://example.com/" } });
 * const reply = await new LinksController(store).create(ctx);
 */
import { Socket } from "node:net";
import { Readable } from "node:stream";
import type { AddressBlocks } from "../http/request/address-blocks.js";
import { DEFAULT_READ_LIMIT } from "../http/body/body-reader.js";
import { TrustedProxies } from "../http/request/client-address.js";
import type { Context } from "../http/request/context.js";
import { KoaApplication } from "../http/koa/koa-application.js";
import { SystemClock, type Clock } from "../runtime/clock.js";
import type { IncomingMessage } from "node:http";
import { nodeHttp } from "../runtime/node-http.js";
import { encodeBody, type BodyOptions, type HeaderField } from "./transport.js";

interface FakeRequestOptions extends BodyOptions {
  /** The default is GET. */
  readonly method?: string;
  /** Path and query; the default is `/`. */
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The peer's address; the default is 127.0.0.1. */
  readonly ip?: string;
}

export interface ContextOptions<Names extends string = never> extends FakeRequestOptions {
  /** The path parameters that the router binds in a real request. */
  readonly params?: Readonly<Record<Names, string>>;
  /** The parsed values of a contract: `ctx.input`. */
  readonly input?: object;
  /** The values that guards add to the context. */
  readonly adds?: object;
  /** The trusted proxies, as for `.trustedProxies(list)`. */
  readonly trustedProxies?: string | AddressBlocks;
  readonly clock?: Clock;
}

/** The options for the context of an endpoint: parsed values of the types of its contract, and the values that its guards add. */
export type EndpointContextOptions<C extends object> = Omit<ContextOptions, "adds" | "input" | "params"> & {
  readonly [K in keyof C & ("input" | "params")]?: C[K];
} & {
  /** The values that guards add to the context. */
  readonly adds?: Omit<C, keyof Context>;
};

/**
 * With the type of an endpoint's context its parsed values are given as they are, without the schemas: `context<ContextOf<typeof
 * links.store>>({ input: { body } })`.
 *
 * @throws TypeError for more than one of `json`, `form` and `body`, and for a request that the server would refuse
 */
export function context<Names extends string = never>(options?: ContextOptions<Names>): Context<Names>;
export function context<C extends object>(options: EndpointContextOptions<C>): C;
export function context(options: ContextOptions<string> = {}): Context {
  const { params, input, adds = {}, clock = new SystemClock(), trustedProxies, ...request } = options;
  const proxies = TrustedProxies.parse(trustedProxies);
  const koa = new KoaApplication();
  koa.share({ clock, proxies, readLimit: DEFAULT_READ_LIMIT });
  let ctx: Context | undefined;
  koa.handleRequest(koa.createContext(createFakeRequest(request)), (handled) => (ctx = handled));
  if (ctx === undefined) throw new TypeError("the server would refuse this request before a handler runs");
  if (params !== undefined) ctx.bindParams(params);
  if (input !== undefined) ctx.bindInput(input);
  return Object.assign(ctx, adds);
}

/** Node's request object without a connection. */
function createFakeRequest(options: FakeRequestOptions): IncomingMessage {
  const { method = "GET", url = "/", headers = {}, ip = "127.0.0.1", ...body } = options;
  const { content, type } = encodeBody(body);
  const incoming = new nodeHttp.IncomingMessage(createSocket(ip));
  Object.assign(incoming, { method, url, httpVersion: "1.1", httpVersionMajor: 1, httpVersionMinor: 1 });
  const fields: readonly HeaderField[] = [
    ["Host", "localhost"],
    ...listBodyFields(content, type),
    ...Object.entries(headers),
  ];
  Object.assign(incoming, toNodeHeaders(fields));
  feed(incoming, content);
  return incoming;
}

function createSocket(ip: string): Socket {
  return Object.defineProperty(new Socket(), "remoteAddress", { value: ip });
}

function listBodyFields(content: Buffer | Readable | undefined, type: string | undefined): HeaderField[] {
  const fields: HeaderField[] = type === undefined ? [] : [["Content-Type", type]];
  if (content instanceof Readable) fields.push(["Transfer-Encoding", "chunked"]);
  else if (content !== undefined) fields.push(["Content-Length", String(content.length)]);
  return fields;
}

/** Node's three views of a request's headers. A later field replaces an earlier field of the same name. */
function toNodeHeaders(
  fields: readonly HeaderField[],
): Pick<IncomingMessage, "headers" | "headersDistinct" | "rawHeaders"> {
  const distinct = new Map(fields.map(([name, value]) => [name.toLowerCase(), [value].flat()]));
  const joined = [...distinct].map(([name, values]) => [name, joinValues(name, values)]);
  return {
    headers: Object.assign(Object.create(null), Object.fromEntries(joined)),
    headersDistinct: Object.assign(Object.create(null), Object.fromEntries(distinct)),
    rawHeaders: [...distinct].flatMap(([name, values]) => values.flatMap((value) => [name, value])),
  };
}

function joinValues(name: string, values: readonly string[]): string | readonly string[] {
  return name === "set-cookie" ? values : values.join(name === "cookie" ? "; " : ", ");
}

function feed(incoming: IncomingMessage, content: Buffer | Readable | undefined): void {
  const finish = (): void => {
    incoming.complete = true;
    incoming.push(null);
  };
  // The `_read` of Node resumes the socket of the connection; a fake request has no connection.
  incoming._read = () => {};
  if (content instanceof Readable) {
    content.on("data", (chunk: Buffer) => incoming.push(chunk)).once("end", finish);
    content.once("error", (error) => incoming.destroy(error));
  } else {
    if (content !== undefined) incoming.push(content);
    finish();
  }
}
