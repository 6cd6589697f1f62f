/**
 * The keys that sign the tokens of the application: the first signs, all verify, so that a key is replaced without a token that ends early.
 * Each derives from a key of the application, as those of its sessions do, or is a private key that other programs know.
 */
import { createECDH, createPrivateKey, createPublicKey, hash, KeyObject } from "node:crypto";
import { deriveBytes, readKeys } from "../../crypto/derived-key.js";
import type { SecretKeyMaterial } from "../../errors/secret-keys.js";
import { createSetupError } from "../../errors/setup-error.js";
import { loadJose } from "./jose-package.js";
import type { JwkSet, TokenHeader, VerificationKey } from "./key-set.js";
import { FixedKeys, VerificationKeys } from "./verification-keys.js";

export const SIGNING_ALGORITHMS = ["ES256", "EdDSA"] as const;

export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

const PURPOSE = "stagecraft access token 1";
/** The order of P-256 (NIST SP 800-186 section 3.2.1.3). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
/** Before the 32 bytes of a private key of Ed25519 (RFC 8410 section 7). */
const ED25519_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

interface SigningKey {
  readonly algorithm: SigningAlgorithm;
  readonly key: KeyObject;
  /** The public key, with its id. */
  readonly jwk: Readonly<Record<string, string>> & { readonly kid: string };
}

export class SigningKeys extends VerificationKeys {
  // Not `private`: printing the object would show the keys.
  readonly #keys: readonly [SigningKey, ...(readonly SigningKey[])];
  private readonly fixed: FixedKeys;

  /** @throws FrameworkError `E_CRYPTO_KEY` */
  constructor(material: SecretKeyMaterial, algorithm: SigningAlgorithm) {
    super();
    const list = Array.isArray(material) ? (material as readonly SecretKeyMaterial[]) : [material];
    const [first, ...others] = list.map((each) => toSigningKey(each, algorithm));
    // It refuses the empty list.
    this.#keys = [first ?? toSigningKey(readKeys([])[0], algorithm), ...others];
    this.fixed = new FixedKeys(this.getJwks(), this.algorithms);
  }

  get algorithms(): readonly SigningAlgorithm[] {
    return [...new Set(this.#keys.map(({ algorithm }) => algorithm))];
  }

  /** The public keys, as they are published (RFC 7517 section 5). */
  getJwks(): JwkSet {
    return { keys: this.#keys.map(({ jwk, algorithm }) => ({ ...jwk, alg: algorithm, use: "sig" })) };
  }

  override find(header: TokenHeader): VerificationKey | undefined | Promise<VerificationKey | undefined> {
    return this.fixed.find(header);
  }

  sign(claims: Readonly<Record<string, unknown>>, type: string): Promise<string> {
    const [{ key, algorithm, jwk }] = this.#keys;
    const { SignJWT } = loadJose();
    return new SignJWT({ ...claims }).setProtectedHeader({ alg: algorithm, typ: type, kid: jwk.kid }).sign(key);
  }
}

function toSigningKey(material: SecretKeyMaterial, algorithm: SigningAlgorithm): SigningKey {
  const isPrivate = material instanceof KeyObject && material.type === "private";
  const key = isPrivate ? material : DERIVATIONS[algorithm](readKeys(material)[0]);
  const { kty = "", crv = "", x = "", y } = createPublicKey(key).export({ format: "jwk" });
  const isFitting = crv === (algorithm === "ES256" ? "P-256" : "Ed25519");
  if (!isFitting) throw createSetupError("E_CRYPTO_KEY", `a private key of tokenIssuing() is no key for ${algorithm}`);
  // RFC 7638 section 3.3, and RFC 8037 section 2: the members in the order of their names.
  const members = y === undefined ? { crv, kty, x } : { crv, kty, x, y };
  return { algorithm, key, jwk: { ...members, kid: hash("sha256", JSON.stringify(members), "base64url") } };
}

const DERIVATIONS: Readonly<Record<SigningAlgorithm, (key: KeyObject) => KeyObject>> = {
  ES256: deriveP256,
  EdDSA: (key) =>
    createPrivateKey({
      key: Buffer.concat([ED25519_HEAD, deriveBytes(key, `${PURPOSE} Ed25519`, 32)]),
      format: "der",
      type: "pkcs8",
    }),
};

/** FIPS 186-5 appendix A.2.1: with 64 bits more than the order has, all numbers are equally likely. */
function deriveP256(key: KeyObject): KeyObject {
  const wide = BigInt(`0x${deriveBytes(key, `${PURPOSE} P-256`, 40).toString("hex")}`);
  const secret = Buffer.from(((wide % (ORDER - 1n)) + 1n).toString(16).padStart(64, "0"), "hex");
  const curve = createECDH("prime256v1");
  curve.setPrivateKey(secret);
  // Without compression: one byte, and two numbers of 32 bytes.
  const point = curve.getPublicKey();
  const [x, y] = [point.toString("base64url", 1, 33), point.toString("base64url", 33)];
  return createPrivateKey({ key: { kty: "EC", crv: "P-256", x, y, d: secret.toString("base64url") }, format: "jwk" });
}
