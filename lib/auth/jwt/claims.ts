/**
 * The claims of an access token (RFC 7519 section 4.1, RFC 9068 section 4): whose it is, for whom, from when and until when. A claim of a
 * wrong type refuses the token, also where no rule needs it.
 */
import type { BearerIdentity } from "./bearer.js";
import { parseObject, type TokenFault } from "./signed-token.js";

export interface ClaimRules {
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly clockToleranceMs: number;
}

/** The end of the year 9999. */
const MAX_TIME_S = 253_402_300_799;

type Claims = Readonly<Record<string, unknown>>;

/** @param now milliseconds since the Unix epoch */
export function readIdentity(payload: string, rules: ClaimRules, now: number): BearerIdentity | TokenFault {
  const claims = parseObject(payload);
  if (claims === undefined) return "claims";
  const { sub, client_id: clientId = claims["azp"] } = claims;
  const scopes = findScopes(claims);
  if (typeof sub !== "string" || sub === "" || scopes === undefined) return "claims";
  if (clientId !== undefined && typeof clientId !== "string") return "claims";
  const fault = findFault(claims, rules, now);
  return fault ?? { subject: sub, issuer: rules.issuer, scopes, clientId, claims };
}

function findFault(
  claims: Claims,
  { issuer, audience, clockToleranceMs }: ClaimRules,
  now: number,
): TokenFault | undefined {
  const { iss, aud, exp, nbf = 0, iat = 0 } = claims;
  if (!isTime(exp) || !isTime(nbf) || !isTime(iat)) return "claims";
  const audiences: unknown = typeof aud === "string" ? [aud] : aud;
  if (!Array.isArray(audiences) || !audiences.every((each) => typeof each === "string")) return "claims";
  if (iss !== issuer) return "issuer";
  if (!audience.some((each) => audiences.includes(each))) return "audience";
  if (!(now - clockToleranceMs < exp * 1000)) return "expired";
  // A token of the future is of an issuer whose clock is wrong, and so is its end.
  return Math.max(nbf, iat) * 1000 <= now + clockToleranceMs ? undefined : "early";
}

/** RFC 7519 section 2, "NumericDate". JSON may hold 1e400, which is no end, and some issuers write milliseconds. */
function isTime(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= MAX_TIME_S;
}

/** The claim `scope` of RFC 9068, or `scp` of others; `undefined` for one of a wrong type. */
function findScopes({ scope, scp }: Claims): readonly string[] | undefined {
  const given = scope ?? scp ?? [];
  if (typeof given === "string") return given.split(" ").filter((each) => each !== "");
  return Array.isArray(given) && given.every((each) => typeof each === "string") ? given : undefined;
}
