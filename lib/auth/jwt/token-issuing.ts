/**
 * An application that is its own issuer, as a list of bindings: `TokenIssuer` signs, and the guard `bearer` verifies by the same keys.
 *
 * @example
 * @Module({ providers: [...tokenIssuing(shop, { issuer: config.url, audience: config.url, keys: settings.APP_KEY })] })
 */
import { type Binding, provide } from "../../di/provide.js";
import { checkOptionNames } from "../../errors/option-names.js";
import type { SecretKeyMaterial } from "../../errors/secret-keys.js";
import { createSetupError } from "../../errors/setup-error.js";
import { Clock } from "../../runtime/clock.js";
import type { Issuer } from "./bearer.js";
import { expectJose } from "./jose-package.js";
import { SIGNING_ALGORITHMS, type SigningAlgorithm, SigningKeys } from "./signing-keys.js";
import { TokenIssuer } from "./token-issuer.js";
import { bindVerifier } from "./token-verification.js";
import { VerificationKeys } from "./verification-keys.js";
import { checkNumber, checkRules, RULES, type TokenRules } from "./verification-options.js";

export interface IssuingOptions extends TokenRules {
  /**
   * 128 hexadecimal characters, from which the key derives, or a private key as a `KeyObject`; or a list of them: the first signs, all
   * verify. `variable.keys()` reads them from the environment.
   */
  readonly keys: SecretKeyMaterial;
  /** `ES256` unless set. */
  readonly algorithm?: SigningAlgorithm;
  /** How long an access token is valid: 600 000 unless set, at least 1000. */
  readonly lifetimeMs?: number;
}

const OPTIONS = { ...RULES, keys: true, algorithm: true, lifetimeMs: true } as const;
const YEAR_MS = 365 * 86_400_000;

/** @throws FrameworkError `E_OPTION`, `E_AUTH_OPTION`, `E_CRYPTO_KEY`; without the package `E_PEER_MISSING` */
export function tokenIssuing(issuer: Issuer, options: IssuingOptions): readonly Binding[] {
  expectJose();
  checkOptionNames(options, OPTIONS, "tokenIssuing");
  const { keys: material, algorithm = "ES256", lifetimeMs = 600_000, ...given } = options;
  checkNumber("lifetimeMs", lifetimeMs, 1000, YEAR_MS);
  if (!SIGNING_ALGORITHMS.includes(algorithm))
    throw createSetupError("E_AUTH_OPTION", `algorithm of tokenIssuing() is one of ${SIGNING_ALGORITHMS.join(", ")}`);
  const keys = new SigningKeys(material, algorithm);
  const rules = checkRules(given, keys.algorithms);
  return [
    provide(VerificationKeys.of(issuer)).useValue(keys),
    provide(TokenIssuer).useFactory((resolve) => new TokenIssuer(rules, keys, lifetimeMs, resolve(Clock))),
    ...bindVerifier(issuer, rules),
  ];
}
