/** The options of `tokenVerification()`, checked, and with their defaults. */
import { checkOptionNames } from "../../errors/option-names.js";
import { createSetupError } from "../../errors/setup-error.js";
import { valueText } from "../../errors/value-text.js";
import { ALGORITHMS, DEFAULT_ALGORITHMS, isSymmetric, type SignatureAlgorithm } from "./algorithms.js";
import type { JwkSet } from "./key-set.js";

/** What every access token of an issuer has. */
export interface TokenRules {
  /** The claim `iss`, character by character. */
  readonly issuer: string;
  /** The claim `aud` has one of them: the names of this application at the issuer. */
  readonly audience: string | readonly string[];
  /**
   * The header `typ` without regard to case. The default is `at+jwt` (RFC 9068), so that an ID token is no access token. Some issuers write
   * `JWT` into both: then the audience alone tells them apart, so give an audience that no ID token has.
   */
  readonly type?: string;
  /** By how much the clocks of issuer and application may differ: 60 000 unless set, at most 300 000. */
  readonly clockToleranceMs?: number;
  /** In characters: 8192 unless set, at most 65 536. A longer token is refused unread. */
  readonly maxLength?: number;
}

/** With neither `jwksUrl` nor `jwks`, the address of the keys comes from `<issuer>/.well-known/openid-configuration`. */
export interface VerificationOptions extends TokenRules {
  /** The default has those of RSA, P-256 and Ed25519. One of HMAC stands alone, and with `jwks`, because a shared secret is no public key. */
  readonly algorithms?: readonly SignatureAlgorithm[];
  /** The address of the keys: https, or http of this machine. */
  readonly jwksUrl?: string;
  /** The keys themselves. Then nothing is fetched. */
  readonly jwks?: JwkSet;
  /** How long the keys count while the issuer cannot be read: 3 600 000 unless set, at least 600 000 and at most 86 400 000. */
  readonly staleMs?: number;
}

export interface CheckedRules {
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly algorithms: readonly SignatureAlgorithm[];
  readonly type: string;
  readonly clockToleranceMs: number;
  readonly maxLength: number;
}

export const RULES = { issuer: true, audience: true, type: true, clockToleranceMs: true, maxLength: true } as const;
const OPTIONS = { ...RULES, algorithms: true, jwksUrl: true, jwks: true, staleMs: true } as const;

const HOUR_MS = 3_600_000;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** @throws FrameworkError `E_OPTION`, `E_AUTH_OPTION` */
export function checkVerificationOptions(options: VerificationOptions) {
  checkOptionNames(options, OPTIONS, "tokenVerification");
  const { algorithms = DEFAULT_ALGORITHMS, jwksUrl, jwks, staleMs = HOUR_MS, ...rules } = options;
  checkAlgorithms(algorithms, jwks);
  if (jwks !== undefined && jwksUrl !== undefined) throw refuse("jwksUrl", "leave it out beside jwks");
  if (jwksUrl !== undefined && !isSafeUrl(jwksUrl)) throw refuse("jwksUrl", `${valueText(jwksUrl)} is no https URL`);
  if (jwksUrl === undefined && jwks === undefined && !isSafeUrl(rules.issuer))
    throw refuse("issuer", `${valueText(rules.issuer)} is no https URL, which the discovery of keys needs`);
  checkNumber("staleMs", staleMs, HOUR_MS / 6, 24 * HOUR_MS);
  return { ...checkRules(rules, algorithms), jwksUrl, jwks, staleMs };
}

/** @throws FrameworkError `E_AUTH_OPTION` */
export function checkRules(rules: TokenRules, algorithms: readonly SignatureAlgorithm[]): CheckedRules {
  const { issuer, type = "at+jwt", clockToleranceMs = 60_000, maxLength = 8192 } = rules;
  const audience = typeof rules.audience === "string" ? [rules.audience] : rules.audience;
  if (!isText(issuer)) throw refuse("issuer", "give the claim iss of its tokens");
  if (!Array.isArray(audience) || audience.length === 0 || !audience.every(isText))
    throw refuse("audience", "give the claim aud of tokens for this application");
  if (!isText(type)) throw refuse("type", 'give the type of its access tokens: "at+jwt"');
  checkNumber("clockToleranceMs", clockToleranceMs, 0, 300_000);
  checkNumber("maxLength", maxLength, 256, 65_536);
  return { issuer, audience, algorithms, type, clockToleranceMs, maxLength };
}

/** Whether keys may be fetched from an address: by https, or on this machine. */
export function isSafeUrl(url: unknown): url is string {
  if (typeof url !== "string" || !URL.canParse(url)) return false;
  const { protocol, hostname, username, password } = new URL(url);
  return username + password === "" && (protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname)));
}

/** A token that is signed with the public key as an HMAC secret must find no algorithm that takes it. */
function checkAlgorithms(algorithms: readonly SignatureAlgorithm[], jwks: JwkSet | undefined): void {
  const isList = Array.isArray(algorithms) && algorithms.length > 0;
  const unknown = isList ? algorithms.find((each) => !ALGORITHMS.includes(each)) : algorithms;
  if (unknown !== undefined) throw refuse("algorithms", `${valueText(unknown)} is none of ${ALGORITHMS.join(", ")}`);
  const shared = algorithms.filter(isSymmetric);
  if (shared.length > 0 && (jwks === undefined || shared.length < algorithms.length))
    throw refuse("algorithms", "those of HMAC stand alone, and take their secret from jwks");
}

export function checkNumber(option: string, value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max)
    throw refuse(option, `${valueText(value)} is no whole number from ${min} to ${max}`);
}

function refuse(option: string, reason: string) {
  return createSetupError("E_AUTH_OPTION", `${option} of tokenVerification() or tokenIssuing(): ${reason}`);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
