/**
 * A `Context` without a server, for unit tests of a handler or a middleware: readers, cookies, params and Koa's own members work as in a
 * request. What it answers is read off the context; nothing is sent. Where stages or the wire matter, use `testApp`.
 *
 * @example
 * const ctx = context({ method: "POST", url: "/links", json: { target: "https://example.com/" } });
 * const reply = await new LinksController(store).create(ctx);
 */
import Koa from "koa";
import { Entrance } from "../server/request-handler.js";
import { DEFAULT_READ_LIMIT } from "../http/body-reader.js";
import { TrustedProxies } from "../http/client-address.js";
import { SystemClock, type Clock } from "../runtime/clock.js";
import type { Context } from "../http/context.js";
import { fakeRequest, type FakeRequestOptions } from "./fake-request.js";

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
  const entrance = new Entrance({ app: new Koa(), clock, proxies, readLimit: DEFAULT_READ_LIMIT });
  const { incoming, response } = fakeRequest(request);
  let made: Context | undefined;
  entrance.lead((ctx) => (made = ctx));
  entrance.request(incoming, response);
  if (made === undefined) throw new TypeError("the entrance did not let the request in");
  if (params !== undefined) made.bindParams(params);
  // Its names are those of the params just bound.
  return made as Context<Names>;
}
