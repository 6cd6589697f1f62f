/**
 * Access tokens that a test signs in the place of the issuer. The keys of the issuer get one more in this application, so a token passes all
 * rules of the configuration, and an issuer that is down or elsewhere is not asked.
 */
import type { Application } from "../app/application.js";
import { isSymmetric, type SignatureAlgorithm } from "../auth/jwt/algorithms.js";
import type { Issuer } from "../auth/jwt/bearer.js";
import { loadJose } from "../auth/jwt/jose-package.js";
import type { VerificationKey } from "../auth/jwt/key-set.js";
import { TokenVerifier } from "../auth/jwt/token-verifier.js";
import { VerificationKeys } from "../auth/jwt/verification-keys.js";
import type { Clock } from "../runtime/clock.js";
import { randomBytes } from "node:crypto";
import { createFailure } from "./failure.js";
import type { ActingOptions } from "./test-session.js";

interface ActingBearer extends ActingOptions {
  readonly issuer: Issuer;
}

interface TestKey {
  readonly alg: SignatureAlgorithm;
  readonly kid: string;
  readonly signing: VerificationKey;
}

const LIFETIME_S = 3600;

/** Returns the text of a token that the guards of the issuer take. It is valid for an hour. */
export async function createAccessToken(
  application: Application,
  clock: Clock,
  subject: string,
  { issuer, scopes = [], claims }: ActingBearer,
): Promise<string> {
  const verifier: unknown = application.resolve(TokenVerifier.of(issuer));
  if (!(verifier instanceof TokenVerifier))
    throw createFailure(`the verifier of the issuer ${issuer.name} is a double, which takes any token`);
  const { algorithms, audience, issuer: iss, type: typ } = verifier.rules;
  const { signing, ...header } = await ensureKey(application.resolve(VerificationKeys.of(issuer)), algorithms);
  const iat = Math.floor(clock.now() / 1000);
  const standard = { iss, aud: [...audience], sub: subject, iat, exp: iat + LIFETIME_S, scope: scopes.join(" ") };
  const { SignJWT } = loadJose();
  return new SignJWT({ ...standard, ...claims }).setProtectedHeader({ ...header, typ }).sign(signing);
}

/** By the keys of an application. */
const testKeys = new WeakMap<VerificationKeys, Promise<TestKey>>();

function ensureKey(keys: VerificationKeys, algorithms: readonly SignatureAlgorithm[]): Promise<TestKey> {
  const known = testKeys.get(keys) ?? addKey(keys, algorithms);
  testKeys.set(keys, known);
  return known;
}

async function addKey(keys: VerificationKeys, algorithms: readonly SignatureAlgorithm[]): Promise<TestKey> {
  // A key of RSA takes a tenth of a second.
  const alg = algorithms.find((each) => each.startsWith("E")) ?? algorithms[0] ?? "ES256";
  const kid = `test-${randomBytes(8).toString("hex")}`;
  const { signing, verifying } = await generateKey(alg);
  const find = keys.find.bind(keys);
  keys.find = (header) => (header.kid === kid && header.alg === alg ? verifying : find(header));
  return { alg, kid, signing };
}

async function generateKey(alg: SignatureAlgorithm) {
  const secret = randomBytes(64);
  if (isSymmetric(alg)) return { signing: secret, verifying: secret };
  const { privateKey, publicKey } = await loadJose().generateKeyPair(alg);
  return { signing: privateKey, verifying: publicKey };
}
