/**
 * The headers that CORS adds to a response. Each completer is created once and serves all requests. It reads the variable parts from the
 * request.
 */
import type { Exchange } from "../../http/request/exchange.js";
import type { HeadCompleter, ResponseHead } from "../../http/response/response-head.js";
import { isTokenList } from "../../http/response/field-value.js";
import { VaryCompleter } from "../../http/response/vary.js";
import { type CorsOptions, DEFAULT_METHODS, isOrigin } from "./cors-options.js";

const ALLOW_ORIGIN = "Access-Control-Allow-Origin";
const PREFLIGHT_VARY = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers";

export class CorsHeaders {
  /** For a request without an `Origin` header. */
  readonly withoutOrigin: HeadCompleter;
  readonly allowed: HeadCompleter;
  readonly denied: HeadCompleter;
  readonly preflight: HeadCompleter;
  readonly deniedPreflight: HeadCompleter;

  constructor(options: CorsOptions) {
    const allowed = new AllowedOrigin(options);
    this.allowed = allowed;
    // A cache may later give the response to a page of another origin, so a response for all origins always has the header.
    this.withoutOrigin = options.origins === "*" ? allowed : new VaryCompleter("Origin");
    this.denied = new DeniedOrigin();
    this.preflight = new AllowedPreflight(options, allowed);
    this.deniedPreflight = new VaryCompleter(PREFLIGHT_VARY);
  }
}

class AllowedOrigin implements HeadCompleter {
  private readonly allowsAll: boolean;
  private readonly varying = new VaryCompleter("Origin");
  private readonly pairs: readonly string[];

  constructor({ origins, credentials = false, exposeHeaders = [] }: CorsOptions) {
    this.allowsAll = origins === "*";
    this.pairs = [
      ...(credentials ? ["Access-Control-Allow-Credentials", "true"] : []),
      ...(exposeHeaders.length > 0 ? ["Access-Control-Expose-Headers", exposeHeaders.join(", ")] : []),
    ];
  }

  complete(exchange: Exchange, head: ResponseHead): void {
    this.allow(exchange, head);
    head.addMissing(this.pairs);
    if (!this.allowsAll) this.varying.complete(exchange, head);
  }

  allow(exchange: Exchange, head: ResponseHead): void {
    head.set(ALLOW_ORIGIN, this.allowsAll ? "*" : getRequestOrigin(exchange));
  }
}

/** The origin of the request. It is checked again, because inner stages may have changed the request's headers. */
function getRequestOrigin({ incoming: { headers } }: Exchange): string {
  const { origin = "null" } = headers;
  return isOrigin(origin) ? origin : "null";
}

class AllowedPreflight implements HeadCompleter {
  private readonly pairs: readonly string[];
  private readonly varying = new VaryCompleter(PREFLIGHT_VARY);
  private readonly allowHeaders: string | undefined;
  private readonly privateNetwork: boolean;

  constructor(
    options: CorsOptions,
    private readonly origin: AllowedOrigin,
  ) {
    const { methods = DEFAULT_METHODS, allowHeaders, credentials = false, maxAge, privateNetwork = false } = options;
    this.allowHeaders = allowHeaders?.join(", ");
    this.privateNetwork = privateNetwork;
    this.pairs = [
      ...(credentials ? ["Access-Control-Allow-Credentials", "true"] : []),
      "Access-Control-Allow-Methods",
      methods.join(", "),
      ...(maxAge === undefined ? [] : ["Access-Control-Max-Age", String(maxAge)]),
    ];
  }

  complete(exchange: Exchange, head: ResponseHead): void {
    const { headers } = exchange.incoming;
    this.origin.allow(exchange, head);
    head.addMissing(this.pairs);
    const names = this.allowHeaders ?? readRequestedHeaders(headers["access-control-request-headers"]);
    if (names !== "") head.set("Access-Control-Allow-Headers", names);
    if (this.privateNetwork && headers["access-control-request-private-network"] === "true") {
      head.set("Access-Control-Allow-Private-Network", "true");
    }
    this.varying.complete(exchange, head);
  }
}

/** The header names that the client asks for; empty unless they are a list of names. */
function readRequestedHeaders(names: string | undefined): string {
  return names !== undefined && isTokenList(names) ? names.trim() : "";
}

/** Removes the CORS headers of a handler too, because they must not give access to an origin that is not allowed. */
class DeniedOrigin implements HeadCompleter {
  private readonly varying = new VaryCompleter("Origin");

  complete(exchange: Exchange, head: ResponseHead): void {
    head.removeByPrefix("access-control-");
    this.varying.complete(exchange, head);
  }
}
