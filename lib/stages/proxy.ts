/**
 * Stage layer: calls a function of the application for each request, before all other stages. The function may rewrite the target, redirect
 * the request or respond to it. It sees method, target and headers only; to read the body, write a middleware.
 *
 * @example
 * builder.proxy(({ url }) => (url.startsWith("/old/") ? ProxyAction.rewrite(url.slice(4)) : ProxyAction.continue()));
 */
import { valueText } from "../errors/value-text.js";
import type { IncomingHttpHeaders } from "node:http";
import { isGetOrHead } from "../endpoints/method.js";
import { applyReply } from "../http/response/returned-value.js";
import { refuse } from "../http/failures/refuse.js";
import type { Context } from "../http/request/context.js";
import { FrameworkError } from "../errors/framework-error.js";
import { Problem } from "../errors/problem.js";
import { Reply } from "../http/response/reply.js";
import { isFinalStatus } from "../http/response/head.js";
import { isFieldValue, isToken } from "../http/response/field-value.js";
import { toLocalTarget, toRedirectTarget } from "../http/request/request-target.js";
import { isPromise, StageLayer, type Run } from "../http/middleware.js";

/**
 * The result of the function given to `.proxy(…)`: the request continues, or it gets a response.
 *
 * @example
 * ProxyAction.rewrite(`/v2${request.url}`);
 */
export abstract class ProxyAction {
  /**
   * The request continues. The given headers replace those of the client.
   *
   * @throws FrameworkError `E_PROXY_HEADER` for an invalid header, and for the headers that frame the body
   */
  static continue(headers: Readonly<Record<string, string>> = {}): ProxyAction {
    for (const [name, value] of Object.entries(headers)) checkHeader(name, value);
    return new ContinueAction(headers);
  }

  /**
   * Redirects GET and HEAD with 302 and other methods with 307; with `permanent` it is 301 and 308. The location is a path of this server
   * or an absolute http(s) URL. Any other location is a 400 problem.
   */
  static redirect(location: string, options: { readonly permanent?: boolean } = {}): ProxyAction {
    return new RedirectAction(location, options.permanent === true);
  }

  /** The request continues with this path and query as its target. A scheme, an authority or a fragment in it is a 400 problem. */
  static rewrite(url: string): ProxyAction {
    return new RewriteAction(url);
  }

  /**
   * Responds at once, without a body unless a reply is given.
   *
   * @throws FrameworkError `E_PROXY_STATUS` unless the status is from 200 to 599
   */
  static shortCircuit(status: number, reply?: Reply): ProxyAction {
    if (!isFinalStatus(status)) {
      throw new FrameworkError(`shortCircuit(${valueText(status)}): give a status from 200 to 599`, {
        code: "E_PROXY_STATUS",
      });
    }
    return new ShortCircuitAction(reply?.status(status) ?? Reply.empty(status));
  }

  /** Applies the action. Returns whether the request continues; if not, it has its response. @internal */
  abstract apply(ctx: Context): boolean;
}

class ContinueAction extends ProxyAction {
  constructor(private readonly headers: Readonly<Record<string, string>>) {
    super();
  }

  override apply({ incoming }: Context): boolean {
    for (const [name, value] of Object.entries(this.headers)) {
      incoming.headers[name.toLowerCase()] = value;
      incoming.headersDistinct[name.toLowerCase()] = [value];
    }
    return true;
  }
}

class RedirectAction extends ProxyAction {
  constructor(
    private readonly location: string,
    private readonly isPermanent: boolean,
  ) {
    super();
  }

  override apply(ctx: Context): boolean {
    const target = toRedirectTarget(this.location);
    if (target === undefined) return refuseTarget(ctx, "The redirect leads to no path and no http(s) URL.");
    const [temporary, permanent] = isGetOrHead(ctx.method) ? [302, 301] : [307, 308];
    return respond(ctx, Reply.empty(this.isPermanent ? permanent : temporary).header("Location", target));
  }
}

class RewriteAction extends ProxyAction {
  constructor(private readonly url: string) {
    super();
  }

  override apply(ctx: Context): boolean {
    const target = toLocalTarget(this.url);
    if (target === undefined) return refuseTarget(ctx, "The rewritten target is not a path of this server.");
    ctx.url = target;
    return true;
  }
}

class ShortCircuitAction extends ProxyAction {
  constructor(private readonly reply: Reply) {
    super();
  }

  override apply(ctx: Context): boolean {
    return respond(ctx, this.reply);
  }
}

// A response of this stage does not pass the stage that adds the security headers.
function respond(ctx: Context, reply: Reply): false {
  ctx.raw.setHeader("X-Content-Type-Options", "nosniff");
  applyReply(ctx, reply);
  return false;
}

function refuseTarget(ctx: Context, detail: string): false {
  ctx.raw.setHeader("X-Content-Type-Options", "nosniff");
  refuse(ctx, Problem.of(400, detail));
  return false;
}

/** Headers that frame the body or control the connection. */
const FRAMING: ReadonlySet<string> = new Set([
  "content-length",
  "transfer-encoding",
  "connection",
  "expect",
  "upgrade",
]);

function checkHeader(name: string, value: string): void {
  if (isToken(name) && isFieldValue(value) && !FRAMING.has(name.toLowerCase())) return;
  throw new FrameworkError(
    `continue(): ${JSON.stringify(name)} with that value cannot be a request header here: use one line, and no header of the framing`,
    {
      code: "E_PROXY_HEADER",
    },
  );
}

export interface ProxyRequest {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<IncomingHttpHeaders>;
}

/** Decides about a request. An error that it throws is a 500. */
export type ProxyFunction = (request: ProxyRequest) => ProxyAction | Promise<ProxyAction>;

export class ProxyLayer extends StageLayer {
  constructor(private readonly decide: ProxyFunction) {
    super();
    if (typeof decide !== "function") throw new TypeError(`${valueText(decide)} is not a function`);
  }

  override wrap(inner: Run): Run {
    const { decide } = this;
    return (ctx) => {
      const action = decide(toProxyRequest(ctx));
      return isPromise(action)
        ? action.then((resolved) => applyAction(ctx, resolved, inner))
        : applyAction(ctx, action, inner);
    };
  }
}

function toProxyRequest(ctx: Context): ProxyRequest {
  const { method, url, path } = ctx;
  const query = url.indexOf("?");
  // A target in absolute form has a scheme and an authority before the path (RFC 9112 section 3.2.2).
  const target = url.startsWith(path) ? url : path + (query < 0 ? "" : url.slice(query));
  return { method, url: target, headers: ctx.incoming.headers };
}

function applyAction(ctx: Context, action: unknown, inner: Run): void | Promise<void> {
  if (!(action instanceof ProxyAction)) {
    throw new TypeError(
      "the function given to .proxy(…) returned no ProxyAction; return ProxyAction.continue() to go on",
    );
  }
  return action.apply(ctx) ? inner(ctx) : undefined;
}
