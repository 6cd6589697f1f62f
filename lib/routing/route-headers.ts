/**
 * The headers that each response of a route has by its declaration, errors included, but not a refusal of a stage before the routes: `Accept-Query` and `no-store` of QUERY (RFC 10008),
 * `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). A header that the handler has set stays. Other routes at the template of a QUERY route
 * name its media types too. A route without such headers runs as it is.
 */
import type { ReadyContract } from "../contracts/contract-plan.js";
import type { Run } from "../http/middleware.js";
import type { HeadCompleter } from "../http/response/response-head.js";
import type { Route, RouteDescriptor } from "./route.js";

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

type DeclaredHeaders = Pick<RouteDescriptor, "method" | "deprecated" | "sunset">;

/** @param acceptQuery the media types of QUERY at the template of the route */
export function withRouteHeaders(run: Run, route: DeclaredHeaders, acceptQuery: string | undefined): Run {
  const pairs = listPairs(route, acceptQuery);
  if (pairs.length === 0) return run;
  const completer: HeadCompleter = { complete: (_exchange, head) => head.addMissing(pairs) };
  return (ctx) => {
    ctx.completeHeadWith(completer);
    return run(ctx);
  };
}

function listPairs({ method, deprecated, sunset }: DeclaredHeaders, acceptQuery: string | undefined): string[] {
  return [
    ...(acceptQuery === undefined ? [] : [ACCEPT_QUERY, acceptQuery]),
    // Most caches do not compare the body of a request.
    ...(method === "QUERY" ? ["Cache-Control", "no-store"] : []),
    ...(deprecated === undefined || typeof deprecated === "boolean" ? [] : ["Deprecation", formatSeconds(deprecated)]),
    ...(sunset === undefined ? [] : ["Sunset", new Date(sunset).toUTCString()]),
  ];
}

/** A date as structured field (RFC 9651 section 3.3.7). */
function formatSeconds(date: Date | string): string {
  return `@${Math.floor(new Date(date).getTime() / 1000)}`;
}
