/**
 * Verifies the access tokens of one issuer: form, algorithm, type, signature and claims, by the configuration alone. The guard `bearer` calls
 * it. A program that reads its tokens elsewhere than in the `Authorization` header injects it.
 *
 * @example
 * private readonly verifier = inject(TokenVerifier.of(company));
 * const identity = await this.verifier.verify(text);
 */
import { type Token, token } from "../../di/token.js";
import type { Clock } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import type { BearerIdentity, Issuer } from "./bearer.js";
import { readIdentity } from "./claims.js";
import { readHeader, type TokenFault, verifySignature } from "./signed-token.js";
import type { VerificationKeys } from "./verification-keys.js";
import type { CheckedRules } from "./verification-options.js";

const log = tracing.target("framework::auth");

export class TokenVerifier {
  /** The token of injection of the verifier of an issuer. */
  static of(issuer: Issuer): Token<TokenVerifier> {
    const known = tokens.get(issuer) ?? token<TokenVerifier>(`the verifier of the issuer ${issuer.name}`);
    tokens.set(issuer, known);
    return known;
  }

  /** @internal `tokenVerification()` and `tokenIssuing()` create it. */
  constructor(
    /** The name of the issuer, for the log. */
    private readonly name: string,
    /** @internal */
    readonly rules: CheckedRules,
    private readonly keys: VerificationKeys,
    private readonly clock: Clock,
  ) {}

  /**
   * The identity of a token; `undefined` for a text that is no valid token. The log has the reason, and nothing of the token.
   *
   * @param text any text of a client
   * @throws UnavailableError (503) while the keys of the issuer cannot be read
   */
  async verify(text: string): Promise<BearerIdentity | undefined> {
    const result = await this.read(text);
    if (typeof result === "object") return result;
    log.info("access token refused", { issuer: this.name, reason: result });
    return undefined;
  }

  private async read(text: string): Promise<BearerIdentity | TokenFault> {
    const header = readHeader(text, this.rules);
    if (typeof header === "string") return header;
    const found = this.keys.find(header);
    const key = found instanceof Promise ? await found : found;
    if (key === undefined) return "key";
    const verified = await verifySignature(text, header, key);
    return verified.payload === undefined ? "signature" : readIdentity(verified.payload, this.rules, this.clock.now());
  }
}

const tokens = new WeakMap<Issuer, Token<TokenVerifier>>();
