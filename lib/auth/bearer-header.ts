/**
 * The token of the `Authorization` header (RFC 6750 section 2.1), and the refusals of a guard that reads it. A token in the URL or in a form
 * is none, because logs and histories have these.
 */
import { BadRequestError, ForbiddenError, UnauthorizedError } from "../errors/framework-error.js";
import type { Context } from "../http/request/context.js";

/** RFC 9110 section 11.4: the name of the scheme without case, and one or more spaces. */
const BEARER = /^bearer(?: +|$)/i;

/** @throws UnauthorizedError without a token; BadRequestError for more than one header, of which a proxy may have read another */
export function readBearer(ctx: Context): string {
  const { headers, headersDistinct } = ctx.incoming;
  const { authorization = "" } = headers;
  const scheme = BEARER.exec(authorization)?.[0];
  if (scheme === undefined) throw createTokenError("Send a token.");
  if (headersDistinct["authorization"]?.length === 1) return authorization.slice(scheme.length);
  const given = { "WWW-Authenticate": toChallenge("invalid_request") };
  throw new BadRequestError("Send one Authorization header.", { code: "E_AUTH_TOKEN_HEADER", headers: given });
}

export function createInvalidTokenError(): UnauthorizedError {
  return createTokenError("The token is not valid, or not any more.", "invalid_token");
}

/** @param scope the scopes that the request needs, with spaces between them */
export function createScopeError(scope: string): ForbiddenError {
  const headers = { "WWW-Authenticate": toChallenge("insufficient_scope", scope) };
  return new ForbiddenError("The token may not do this.", { code: "E_AUTH_TOKEN_SCOPE", slug: "scope", headers });
}

function createTokenError(detail: string, error?: string): UnauthorizedError {
  return new UnauthorizedError(detail, { code: "E_AUTH_TOKEN", challenge: toChallenge(error) });
}

/** RFC 6750 section 3. A request without a token gets no error code. */
function toChallenge(error?: string, scope?: string): string {
  const parameters = [`realm="api"`, error && `error="${error}"`, scope && `scope="${scope}"`];
  return `Bearer ${parameters.filter(Boolean).join(", ")}`;
}
