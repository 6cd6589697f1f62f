/**
 * Stage layer: a function of the application's own that sees every request first and may rewrite its target, redirect or answer it,
 * before anything routes, logs or limits. It gets the head alone; for everything else write a middleware.
 *
 * @example
 * builder.proxy(({ url }) => (url.startsWith("/old/") ? ProxyAction.rewrite(url.slice(4)) : ProxyAction.continue()));
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Context } from "../http/context.js";
import { isPromise, Layer, type Run } from "../http/middleware.js";
import { ProxyAction } from "./proxy-action.js";

export interface ProxyRequest {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<IncomingHttpHeaders>;
}

/** Decides what becomes of a request. What it throws is answered with a 500. */
export type ProxyFunction = (request: ProxyRequest) => ProxyAction | Promise<ProxyAction>;

export class ProxyLayer extends Layer {
  constructor(private readonly decide: ProxyFunction) {
    super();
    if (typeof decide !== "function") throw new TypeError(`${String(decide)} is no function that could decide`);
  }

  override wrap(inner: Run): Run {
    const { decide } = this;
    return (ctx) => {
      const action = decide(requestOf(ctx));
      return isPromise(action) ? action.then((later) => follow(ctx, later, inner)) : follow(ctx, action, inner);
    };
  }
}

function requestOf(ctx: Context): ProxyRequest {
  const { method, url, path } = ctx;
  const query = url.indexOf("?");
  // An absolute-form target has an authority before the path.
  const target = url.startsWith(path) ? url : path + (query < 0 ? "" : url.slice(query));
  return { method, url: target, headers: ctx.incoming.headers };
}

function follow(ctx: Context, action: unknown, inner: Run): void | Promise<void> {
  if (!(action instanceof ProxyAction)) {
    throw new TypeError(
      "the function given to .proxy(…) returned no ProxyAction; return ProxyAction.continue() to go on",
    );
  }
  return action.apply(ctx) ? inner(ctx) : undefined;
}
