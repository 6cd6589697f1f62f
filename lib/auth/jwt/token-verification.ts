/**
 * The verification of the access tokens of an issuer, as a list of bindings for a module. Nothing is fetched before the first token comes, so
 * an issuer that is down keeps no application from its start.
 *
 * @example
 * @Module({ providers: [...tokenVerification(company, { issuer: settings.ISSUER, audience: "https://api.shop.example" })] })
 */
import { allowUnusedGuards, Guards } from "../../contracts/guards.js";
import { inject } from "../../di/construction/inject.js";
import { type Binding, provide } from "../../di/provide.js";
import { markListed } from "../../di/unlisted.js";
import type { Context } from "../../http/request/context.js";
import type { Class } from "../../runtime/class.js";
import { Clock } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import { createInvalidTokenError, createScopeError, readBearer } from "../bearer-header.js";
import type { Issuer, WithBearerIdentity } from "./bearer.js";
import { expectJose } from "./jose-package.js";
import { RemoteKeys } from "./remote-keys.js";
import { TokenVerifier } from "./token-verifier.js";
import { FixedKeys, VerificationKeys } from "./verification-keys.js";
import { type CheckedRules, checkVerificationOptions, type VerificationOptions } from "./verification-options.js";

const log = tracing.target("framework::auth");

/** @throws FrameworkError `E_OPTION`, `E_AUTH_OPTION`; without the package `E_PEER_MISSING` */
export function tokenVerification(issuer: Issuer, options: VerificationOptions): readonly Binding[] {
  expectJose();
  const { jwks, jwksUrl, staleMs, ...rules } = checkVerificationOptions(options);
  const { algorithms } = rules;
  const remote = { name: issuer.name, issuer: rules.issuer, jwksUrl, algorithms, staleMs };
  const keys = provide(VerificationKeys.of(issuer));
  return [
    jwks === undefined
      ? keys.useFactory((resolve) => new RemoteKeys(remote, resolve(Clock)))
      : keys.useFactory(() => new FixedKeys(jwks, algorithms)),
    ...bindVerifier(issuer, rules),
  ];
}

/** The verifier and the guard, over keys that are bound beside them. */
export function bindVerifier(issuer: Issuer, rules: CheckedRules): readonly Binding[] {
  const guard = createBearerGuard(issuer);
  return [
    provide(TokenVerifier.of(issuer)).useFactory(
      (resolve) => new TokenVerifier(issuer.name, rules, resolve(VerificationKeys.of(issuer)), resolve(Clock)),
    ),
    provide(guard).useClass(guard),
  ];
}

/** A class for each issuer: the guard of an issuer without one stops the start, as every guard does. */
function createBearerGuard(issuer: Issuer): Class {
  class BearerGuard {
    static {
      markListed(this);
      allowUnusedGuards(issuer.guard);
    }

    private readonly verifier = inject(TokenVerifier.of(issuer));

    @Guards(issuer.guard)
    async requireToken(ctx: Context, ...scopes: readonly string[]): Promise<WithBearerIdentity> {
      const identity = await this.verifier.verify(readBearer(ctx));
      if (identity === undefined) throw createInvalidTokenError();
      if (scopes.every((scope) => identity.scopes.includes(scope))) return { identity };
      log.info("access token refused", { issuer: issuer.name, reason: "scope" });
      throw createScopeError(scopes.join(" "));
    }
  }
  return BearerGuard;
}
