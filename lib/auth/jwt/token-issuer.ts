/**
 * Issues access tokens (RFC 9068) for an application that is its own issuer. They end by themselves, and nothing ends them earlier: keep
 * them short, with `RefreshTokens` beside them.
 *
 * @example
 * @keys.show show() {
 *   return this.issuer.getJwks();
 * }
 */
import { PROVIDED_BY } from "../../di/provided-by.js";
import { randomUUID } from "node:crypto";
import { ValidationError } from "../../errors/framework-error.js";
import type { Clock } from "../../runtime/clock.js";
import { isScope } from "./bearer.js";
import type { JwkSet } from "./key-set.js";
import type { SigningKeys } from "./signing-keys.js";
import type { CheckedRules } from "./verification-options.js";

export interface NewAccessToken {
  /** What the token may do: words without spaces. */
  readonly scopes?: readonly string[];
  /** The program that the token is for. */
  readonly clientId?: string | undefined;
  /** Further claims. Those of the standard are not replaced. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

export class TokenIssuer {
  /** @internal */
  static readonly [PROVIDED_BY] = "...tokenIssuing(issuer, { issuer, audience, keys })";
  /** @internal `tokenIssuing()` creates it. */
  constructor(
    private readonly rules: CheckedRules,
    private readonly keys: SigningKeys,
    /** How long a token is valid. */
    readonly lifetimeMs: number,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the text of a token, which is a secret.
   *
   * @throws ValidationError (422) at `scopes` for a scope that is no word: with a space in it it would be two
   */
  async issue(subject: string, { scopes = [], clientId, claims = {} }: NewAccessToken = {}): Promise<string> {
    if (!scopes.every(isScope))
      throw new ValidationError({ scopes: [{ code: "characters", message: "has a word that is no scope" }] });
    const { issuer, audience, type } = this.rules;
    const now = Math.floor(this.clock.now() / 1000);
    const standard = {
      iss: issuer,
      aud: audience.length === 1 ? audience[0] : audience,
      sub: subject,
      iat: now,
      exp: now + Math.floor(this.lifetimeMs / 1000),
      jti: randomUUID(),
      scope: scopes.length === 0 ? undefined : scopes.join(" "),
      client_id: clientId,
    };
    return this.keys.sign({ ...claims, ...standard }, type);
  }

  /** The public keys for other programs: the content of the endpoint that `jwks_uri` names. */
  getJwks(): JwkSet {
    return this.keys.getJwks();
  }
}
