/**
 * The keys of an issuer, read from a JSON Web Key Set (RFC 7517 section 5) for the algorithms of the configuration. A key that fits none of
 * them is left out, and so is one that says more than a public key does.
 */
import type { CryptoKey } from "jose";
import { ALGORITHMS, isKeyFor, isSymmetric, type SignatureAlgorithm } from "./algorithms.js";
import { loadJose } from "./jose-package.js";

/** The members of a header that choose a key. */
export interface TokenHeader {
  readonly alg: SignatureAlgorithm;
  readonly kid: string | undefined;
}

/** A key that `jose` has imported; bytes for a shared secret. */
export type VerificationKey = CryptoKey | Uint8Array;

/** A JSON Web Key Set as it is written. */
export interface JwkSet {
  readonly keys: readonly object[];
}

/** Issuers have a handful; more would make each search slow, and each import of the set. */
const MAX_KEYS = 100;
/** RFC 7518 section 6. A public key has none of them. */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] as const;

interface KeyEntry {
  readonly kid: unknown;
  readonly algorithm: SignatureAlgorithm;
  readonly key: VerificationKey;
}

export class KeySet {
  // Not `private`: printing the object would show the secrets.
  readonly #entries: readonly KeyEntry[];

  private constructor(
    entries: readonly KeyEntry[],
    /** The number of keys that have private members. */
    readonly exposed: number,
  ) {
    this.#entries = entries;
  }

  /** @throws Error for a value that is no set, for one with more than 100 keys, and for one without a key that fits */
  static async read(value: unknown, algorithms: readonly SignatureAlgorithm[]): Promise<KeySet> {
    const keys: unknown = Reflect.get(Object(value), "keys");
    if (!Array.isArray(keys)) throw new Error("no JSON Web Key Set");
    if (keys.length > MAX_KEYS) throw new Error(`a set of ${keys.length} keys; ${MAX_KEYS} is the limit`);
    const jwks = keys.filter(isObject);
    const usable = jwks.filter((jwk) => !isExposed(jwk, algorithms));
    const pairs = usable.flatMap((jwk) =>
      algorithms.filter((each) => isKeyFor(jwk, each)).map((each) => [jwk, each] as const),
    );
    const entries = (await Promise.all(pairs.map(([jwk, algorithm]) => importKey(jwk, algorithm)))).flat();
    if (entries.length === 0) throw new Error("a set without a key for the algorithms");
    return new KeySet(entries, jwks.length - usable.length);
  }

  /** By the algorithm and the id. Of two keys with one id none counts. A token without an id needs a set with one key for its algorithm. */
  find({ alg, kid }: TokenHeader): VerificationKey | undefined {
    const fitting = this.#entries.filter(
      (entry) => entry.algorithm === alg && (kid === undefined || entry.kid === kid),
    );
    return fitting.length === 1 ? fitting[0]?.key : undefined;
  }
}

/** The list has no more than the keys of one issuer, and each import of a wrong key has its own failure. */
async function importKey(
  jwk: Readonly<Record<string, unknown>>,
  algorithm: SignatureAlgorithm,
): Promise<readonly KeyEntry[]> {
  try {
    const key = await loadJose().importJWK(jwk, algorithm);
    return key instanceof Uint8Array && isTooShort(key, algorithm) ? [] : [{ kid: jwk["kid"], algorithm, key }];
  } catch {
    return [];
  }
}

/** RFC 7518 section 3.2: a secret has at least the bits of the hash, whose number the name ends with. */
function isTooShort({ length }: Uint8Array, algorithm: SignatureAlgorithm): boolean {
  return length * 8 < Number(algorithm.slice(2));
}

/** A private key that an issuer publishes is everybody's. A shared secret is none where the algorithms ask for one. */
function isExposed(jwk: Readonly<Record<string, unknown>>, algorithms: readonly SignatureAlgorithm[]): boolean {
  if (ALGORITHMS.some((each) => isSymmetric(each) && algorithms.includes(each) && isKeyFor(jwk, each))) return false;
  return PRIVATE_MEMBERS.some((member) => jwk[member] !== undefined);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
