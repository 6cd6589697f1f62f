/** An access token, verified by `jose` alone and by the verifier of the guard `bearer`. */
import { exportJWK, generateKeyPair, jwtVerify, SignJWT } from "jose";
import { TokenVerifier } from "../../../../lib/auth/jwt/token-verifier.js";
import { FixedKeys } from "../../../../lib/auth/jwt/verification-keys.js";
import { SystemClock } from "../../../../lib/runtime/clock.js";
import type { Comparison } from "./comparison.js";

const [issuer, audience, type] = ["https://id.company.example", "https://api.shop.example", "at+jwt"] as const;

export async function jwtComparisons(): Promise<readonly Comparison[]> {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: "first" };
  const text = await new SignJWT({ scope: "orders:read", client_id: "till" })
    .setProtectedHeader({ alg: "ES256", typ: type, kid: "first" })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject("user-7")
    .setIssuedAt()
    .setExpirationTime("1h")
    .sign(privateKey);
  const rules = {
    issuer,
    audience: [audience],
    algorithms: ["ES256"],
    type,
    clockToleranceMs: 60_000,
    maxLength: 8192,
  } as const;
  const verifier = new TokenVerifier("company", rules, new FixedKeys({ keys: [jwk] }, ["ES256"]), new SystemClock());
  const options = { issuer, audience, typ: type, algorithms: ["ES256"], clockTolerance: 60 };
  return [
    {
      what: "an access token, ES256 with a known key",
      contenders: [
        { name: "jose alone", run: repeat(() => jwtVerify(text, publicKey, options)) },
        { name: "the verifier of bearer", run: repeat(() => verifier.verify(text)) },
      ],
    },
  ];
}

function repeat(verify: () => Promise<unknown>): (times: number) => Promise<void> {
  return async (times) => {
    for (let turn = 0; turn < times; turn += 1) if ((await verify()) === undefined) throw new Error("refused");
  };
}
