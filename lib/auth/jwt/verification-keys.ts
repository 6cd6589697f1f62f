/**
 * The port of the keys of an issuer. The test kit adds one that it signs with: `app.actingAs`.
 *
 * Keys fail by rejecting with a status of 503, and never report a failure as a missing key.
 */
import { type Token, token } from "../../di/token.js";
import { createSetupError } from "../../errors/setup-error.js";
import type { SignatureAlgorithm } from "./algorithms.js";
import type { Issuer } from "./bearer.js";
import { type JwkSet, KeySet, type TokenHeader, type VerificationKey } from "./key-set.js";

export abstract class VerificationKeys {
  /** The token of injection of the keys of an issuer. */
  static of(issuer: Issuer): Token<VerificationKeys> {
    const known = tokens.get(issuer) ?? token<VerificationKeys>(`the keys of the issuer ${issuer.name}`);
    tokens.set(issuer, known);
    return known;
  }

  /** The key of a header; `undefined` if the issuer has no such key. A promise only where the keys have to be read. */
  abstract find(header: TokenHeader): VerificationKey | undefined | Promise<VerificationKey | undefined>;
}

const tokens = new WeakMap<Issuer, Token<VerificationKeys>>();

/** Keys of the configuration. */
export class FixedKeys extends VerificationKeys {
  private readonly reading: Promise<KeySet>;
  private set: KeySet | undefined;

  constructor(jwks: JwkSet, algorithms: readonly SignatureAlgorithm[]) {
    super();
    this.reading = KeySet.read(jwks, algorithms);
    this.reading.then(
      (set) => (this.set = set),
      () => undefined,
    );
  }

  /** @throws FrameworkError `E_AUTH_OPTION` for a set that no token can be verified with */
  override find(header: TokenHeader): VerificationKey | undefined | Promise<VerificationKey | undefined> {
    return this.set === undefined ? this.findAfterRead(header) : this.set.find(header);
  }

  private async findAfterRead(header: TokenHeader): Promise<VerificationKey | undefined> {
    try {
      return (await this.reading).find(header);
    } catch (cause) {
      throw createSetupError("E_AUTH_OPTION", "jwks of tokenVerification() has no key for the algorithms", cause);
    }
  }
}
