/** The code of the guard `apiToken`. An application uses the value of `@stagecraft/framework/auth/guards`. */
import { allowUnusedGuards, Guards } from "../../contracts/guards.js";
import { inject } from "../../di/construction/inject.js";
import { markListed } from "../../di/unlisted.js";
import type { Context } from "../../http/request/context.js";
import { tracing } from "../../tracing/tracing.js";
import { createInvalidTokenError, createScopeError, readBearer } from "../bearer-header.js";
import { apiToken, type WithTokenIdentity } from "../guards.js";
import { ApiTokens } from "./api-tokens.js";

const log = tracing.target("framework::auth");

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
    if (identity === undefined) throw createInvalidTokenError();
    if (scope === undefined || identity.scopes.includes(scope)) return { identity };
    log.info("API token refused", { reason: "scope", scope, user_id: identity.userId, id: identity.tokenId });
    throw createScopeError(scope);
  }
}
