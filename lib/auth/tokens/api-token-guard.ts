/**
 * The code of the guard `apiToken`: the token of the `Authorization` header (RFC 6750 section 2.1). A token in the URL or in a form is none,
 * because logs and histories have these.
 */
import { allowUnusedGuards, Guards } from "../../contracts/guards.js";
import { inject } from "../../di/construction/inject.js";
import { markListed } from "../../di/unlisted.js";
import { BadRequestError, ForbiddenError, UnauthorizedError } from "../../errors/framework-error.js";
import type { Context } from "../../http/request/context.js";
import { tracing } from "../../tracing/tracing.js";
import { apiToken, type WithTokenIdentity } from "../guards.js";
import { ApiTokens } from "./api-tokens.js";

const log = tracing.target("framework::auth");

/** RFC 9110 section 11.4: the name of the scheme without case, and one or more spaces. */
const BEARER = /^bearer(?: +|$)/i;

export class ApiTokenGuard {
  static {
    // A program that checks no token may import this file too, and a program with tokens need not use the guard.
    markListed(this);
    allowUnusedGuards(apiToken);
  }

  private readonly tokens = inject(ApiTokens);

  @Guards(apiToken)
  async requireToken(ctx: Context, scope?: string): Promise<WithTokenIdentity> {
    const identity = await this.tokens.verify(readBearer(ctx));
    if (identity === undefined) throw refuseToken("The token is not valid, or not any more.", "invalid_token");
    if (scope === undefined || identity.scopes.includes(scope)) return { identity };
    log.info("API token refused", { reason: "scope", scope, user_id: identity.userId, id: identity.tokenId });
    const headers = { "WWW-Authenticate": toChallenge("insufficient_scope", scope) };
    throw new ForbiddenError("The token may not do this.", { code: "E_AUTH_TOKEN_SCOPE", slug: "scope", headers });
  }
}

/** @throws UnauthorizedError without a token; BadRequestError for more than one header, of which a proxy may have read another */
function readBearer(ctx: Context): string {
  const { headers, headersDistinct } = ctx.incoming;
  const { authorization = "" } = headers;
  const scheme = BEARER.exec(authorization)?.[0];
  if (scheme === undefined) throw refuseToken("Send a token.");
  if (headersDistinct["authorization"]?.length === 1) return authorization.slice(scheme.length);
  const given = { "WWW-Authenticate": toChallenge("invalid_request") };
  throw new BadRequestError("Send one Authorization header.", { code: "E_AUTH_TOKEN_HEADER", headers: given });
}

function refuseToken(detail: string, error?: string): UnauthorizedError {
  return new UnauthorizedError(detail, { code: "E_AUTH_TOKEN", challenge: toChallenge(error) });
}

/** RFC 6750 section 3. A request without a token gets no error code. */
function toChallenge(error?: string, scope?: string): string {
  const parameters = [`realm="api"`, error && `error="${error}"`, scope && `scope="${scope}"`];
  return `Bearer ${parameters.filter(Boolean).join(", ")}`;
}
