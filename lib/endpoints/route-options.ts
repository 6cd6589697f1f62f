/** The options of a route that need no schema. Endpoints, resources and routes without decorators have them. */
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { createSetupError } from "../errors/setup-error.js";

/** Options of a route for the CSRF stage. An endpoint and a `Route` have these options. */
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
}

/** @internal */
export const ROUTE_OPTIONS: OptionNames<RouteOptions> = { csrf: true, bearer: true };

/** Returns the options that are set. @internal */
export function pickRouteOptions({ csrf, bearer = false }: RouteOptions): RouteOptions {
  return { ...(bearer && { bearer }), ...(csrf !== undefined && { csrf }) };
}

/** @throws FrameworkError `E_OPTION` for an unknown name, and for a value without a meaning. @internal */
export function checkRouteOptions(given: RouteOptions, where: string): RouteOptions {
  checkOptionNames(given, ROUTE_OPTIONS, where);
  const { csrf = "exempt", bearer = false } = given;
  if (csrf === "exempt" && typeof bearer === "boolean") return pickRouteOptions(given);
  const message = `${where}: csrf is "exempt" or left out, bearer is true or false`;
  throw createSetupError("E_OPTION", message);
}
