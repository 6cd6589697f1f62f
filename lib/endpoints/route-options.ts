/** The options of a route that need no schema. Endpoints, resources and routes without decorators have them. */
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";

/** A date without a time begins in UTC: `"2026-11-01"`. A text with a time has a zone: `"2026-11-01T09:00:00+01:00"`. */
export type RouteDate = Date | string;

/** Options of a route. An endpoint and a `Route` have these options. */
export interface RouteOptions {
  /**
   * `"exempt"`: the CSRF stage lets requests without its token pass. Only for a handler that checks a signature over `ctx.bytes()`, as that
   * of a webhook does. The start-up log and `application.graph()` name such routes.
   */
  readonly csrf?: "exempt";
  /**
   * The clients send a bearer token. The CSRF stage responds with 401 and `WWW-Authenticate: Bearer` to a request that it would refuse with
   * 403.
   */
  readonly bearer?: boolean;
  /**
   * The route is deprecated, since a date or from a later date on. Each of its responses has the date in `Deprecation` (RFC 9745), and metrics
   * count its requests; a stage that refuses before the routes adds none. `true` gives no date, and so no header. An endpoint has the date as
   * ISO text.
   */
  readonly deprecated?: boolean | RouteDate;
  /** The date from which on the route may not respond any more: in `Sunset` (RFC 8594), and counted as a deprecated route. */
  readonly sunset?: RouteDate;
}

/** @internal */
export const ROUTE_OPTIONS: OptionNames<RouteOptions> = {
  csrf: true,
  bearer: true,
  deprecated: true,
  sunset: true,
};

/** Returns the options that are set. @internal */
export function pickRouteOptions({ csrf, bearer = false, deprecated = false, sunset }: RouteOptions): RouteOptions {
  return {
    ...(bearer && { bearer }),
    ...(csrf !== undefined && { csrf }),
    ...(deprecated !== false && { deprecated }),
    ...(sunset !== undefined && { sunset }),
  };
}

/** @throws FrameworkError `E_OPTION` for an unknown name, and for a value without a meaning. @internal */
export function checkRouteOptions(given: RouteOptions, where: string): RouteOptions {
  checkOptionNames(given, ROUTE_OPTIONS, where);
  const { csrf = "exempt", bearer = false } = given;
  if (csrf !== "exempt" || typeof bearer !== "boolean")
    throw createSetupError("E_OPTION", `${where}: csrf is "exempt" or left out, bearer is true or false`);
  return pickRouteOptions({ ...given, ...readDates(given, where) });
}

/** @throws FrameworkError `E_OPTION` for an invalid date, and for a sunset before the deprecation (RFC 9745 section 4) */
function readDates({ deprecated = false, sunset }: RouteOptions, where: string): RouteOptions {
  const since = typeof deprecated === "boolean" ? deprecated : readDate(deprecated, `${where}: deprecated`);
  if (sunset === undefined) return { deprecated: since };
  const end = readDate(sunset, `${where}: sunset`);
  if (typeof since === "string" && end < since)
    throw createSetupError("E_OPTION", `${where}: sunset, ${end}, is before the date of deprecated, ${since}`);
  return { deprecated: since, sunset: end };
}

const DAY = /^\d{4}-\d{2}-\d{2}/;
/** A time without a zone would depend on the machine. */
const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** Returns the ISO text in UTC. */
function readDate(given: unknown, what: string): string {
  const text = given instanceof Date && !Number.isNaN(given.getTime()) ? given.toISOString() : given;
  if (typeof text === "string" && DATE.test(text) && isDay(DAY.exec(text)?.[0] ?? "")) {
    const time = Date.parse(text);
    if (!Number.isNaN(time)) return new Date(time).toISOString();
  }
  throw createSetupError(
    "E_OPTION",
    `${what} is ${valueText(given)}: give a date, "2026-11-01" or a time with its zone`,
  );
}

/** JavaScript reads the 30th of February as a day in March. */
function isDay(day: string): boolean {
  const time = Date.parse(day);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
