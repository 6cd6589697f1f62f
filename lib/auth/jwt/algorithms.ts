/** The algorithms of signatures (RFC 7518 section 3.1, RFC 8037, RFC 9864), and which key fits each of them. */

/** The members of a JSON Web Key that say which algorithms it fits. */
interface KeyForm {
  readonly kty: string;
  readonly crv?: string;
}

const RSA: KeyForm = { kty: "RSA" };
const ED25519: KeyForm = { kty: "OKP", crv: "Ed25519" };
const SECRET: KeyForm = { kty: "oct" };

const FORMS = {
  RS256: RSA,
  RS384: RSA,
  RS512: RSA,
  PS256: RSA,
  PS384: RSA,
  PS512: RSA,
  ES256: { kty: "EC", crv: "P-256" },
  ES384: { kty: "EC", crv: "P-384" },
  ES512: { kty: "EC", crv: "P-521" },
  EdDSA: ED25519,
  Ed25519: ED25519,
  HS256: SECRET,
  HS384: SECRET,
  HS512: SECRET,
} as const satisfies Readonly<Record<string, KeyForm>>;

export type SignatureAlgorithm = keyof typeof FORMS;

/** Those that issuers use, without shared secrets: RFC 9068 section 2.1 asks for RS256. */
export const DEFAULT_ALGORITHMS: readonly SignatureAlgorithm[] = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"];

export const ALGORITHMS = Object.keys(FORMS) as readonly SignatureAlgorithm[];

/** Whether issuer and application share the key. */
export function isSymmetric(algorithm: SignatureAlgorithm): boolean {
  return FORMS[algorithm] === SECRET;
}

/** Whether a key may verify with an algorithm: by its kind, and by the uses that it declares (RFC 7517 section 4). */
export function isKeyFor(jwk: Readonly<Record<string, unknown>>, algorithm: SignatureAlgorithm): boolean {
  const { kty, crv }: KeyForm = FORMS[algorithm];
  const { alg, use, key_ops: operations } = jwk;
  return (
    jwk["kty"] === kty &&
    (crv === undefined || jwk["crv"] === crv) &&
    (alg === undefined || alg === algorithm) &&
    (use === undefined || use === "sig") &&
    (operations === undefined || (Array.isArray(operations) && operations.includes("verify")))
  );
}
