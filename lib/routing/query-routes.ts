/**
 * The rules of QUERY (RFC 10008) that hold for a route: a request names the media type of its body, responses name the media types that the
 * resource takes, and no cache stores a response unless the handler allows it. Other routes at the template of a QUERY route name the types
 * too; a route at any other template costs nothing.
 */
import type { ReadyContract } from "../contracts/contract-plan.js";
import type { Method } from "../endpoints/method.js";
import { BadRequestError } from "../errors/framework-error.js";
import type { Run } from "../http/middleware.js";
import type { HeadCompleter } from "../http/response/response-head.js";
import type { Route } from "./route.js";

export const ACCEPT_QUERY = "Accept-Query";

interface QueryRow {
  readonly route: Route;
  readonly contract?: ReadyContract | undefined;
}

/** Returns the value of `Accept-Query` by the shape of the template; none for a QUERY route that declares no body. */
export function listAcceptedQueries(rows: readonly QueryRow[]): ReadonlyMap<string, string> {
  return new Map(
    rows
      .filter(({ route, contract }) => route.method === "QUERY" && (contract?.bodyTypes ?? []).length > 0)
      .map(({ route, contract }) => [route.path.shape, formatAcceptQuery(contract?.bodyTypes ?? [])]),
  );
}

/** A list of media ranges as structured field (RFC 9651): a type that is no token is a string. */
function formatAcceptQuery(types: readonly string[]): string {
  return types.map((type) => (TOKEN.test(type) ? type : JSON.stringify(type))).join(", ");
}

const TOKEN = /^[A-Za-z*][\w!#$%&'*+\-.^`|~:/]*$/;

/** Puts the headers of the resource on each response of the route, errors included. */
export function withQueryHeaders(run: Run, method: Method, acceptQuery: string | undefined): Run {
  const pairs = [
    ...(acceptQuery === undefined ? [] : [ACCEPT_QUERY, acceptQuery]),
    ...(method === "QUERY" ? ["Cache-Control", "no-store"] : []),
  ];
  if (pairs.length === 0) return run;
  const completer: HeadCompleter = { complete: (_exchange, head) => head.addMissing(pairs) };
  return (ctx) => {
    ctx.completeHeadWith(completer);
    return run(ctx);
  };
}

/** A body whose media type is not known is no query (RFC 10008 section 2). */
export function requireContentType(run: Run): Run {
  return (ctx) => {
    if ((ctx.incoming.headers["content-type"] ?? "") === "")
      throw new BadRequestError("A QUERY request needs a Content-Type.");
    return run(ctx);
  };
}
