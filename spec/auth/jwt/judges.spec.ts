/**
 * The rules of signatures, judged by the vectors of others, and by a second implementation: Wycheproof, RFC 7520, jwcrypto. The files and
 * their licences are in spec/tools/judges/jose.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { TokenIssuer } from "@stagecraft/framework/auth/jwt";
import { expect } from "chai";
import { ALGORITHMS, isSymmetric } from "../../../lib/auth/jwt/algorithms.js";
import { KeySet } from "../../../lib/auth/jwt/key-set.js";
import { readHeader, verifySignature } from "../../../lib/auth/jwt/signed-token.js";
import { needs } from "../../support/machine.js";
import { ROOT } from "../../support/sources.js";
import { createKey, NOW, send, sign, startOrders } from "./bearer-application.js";
import { ACCESS, startIssuing } from "./issuing-application.js";

const run = promisify(execFile);
/** That of Debian, whose packages another Python does not see. */
const PYTHON = "/usr/bin/python3";

type Key = Readonly<Record<string, unknown>>;

interface VectorGroup {
  readonly key: Key & { readonly keys?: readonly Key[] };
  readonly tests: readonly {
    readonly tcId: number;
    readonly comment: string;
    readonly jws: string;
    readonly result: string;
  }[];
}

interface Example {
  readonly title: string;
  readonly payload: string;
  readonly key: Key;
  readonly compact: string | null;
}

/** Vectors with another result here, by file and number, each with the reason. */
const OTHERWISE: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>> = {
  "json-web-signature": {
    "an empty payload, or one of bytes that are no text, is no token": [
      259, 263, 264, 267, 268, 271, 272, 275, 320, 323, 325, 328,
    ],
    "the alg of the key is another one than that of the header, or none that exists": [346, 347, 350, 351],
    "the text in the file has no wrong padding, which the title promises": [367, 370],
    "the character outside of the alphabet stands for nothing, and is refused": [372, 373],
  },
  "json-web-key": { "the numbers of an RSA key are not searched for those of a known fault": [7] },
};

const readFile = (name: string): unknown =>
  JSON.parse(readFileSync(join(ROOT, "spec/tools/judges/jose", name), "utf8"));

/** The payload of a token by these keys; `undefined` for one that is refused. */
async function verify(keys: readonly Key[], text: string): Promise<string | undefined> {
  const areSecrets = keys.every(({ kty }) => kty === "oct");
  const algorithms = ALGORITHMS.filter((each) => isSymmetric(each) === areSecrets);
  const header = readHeader(text, { algorithms, type: undefined, maxLength: 65_536 });
  const set = await KeySet.read({ keys }, algorithms).catch(() => undefined);
  const key = typeof header === "string" ? undefined : set?.find(header);
  if (typeof header === "string" || key === undefined) return undefined;
  return (await verifySignature(text, header, key)).payload;
}

/** The last line that the program prints. */
async function runPython(program: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(PYTHON, ["-c", program, ...args], { timeout: 50_000 });
  return stdout.trim();
}

describe("the signature of a token", () => {
  for (const [name, count] of [
    ["json-web-signature", 401],
    ["json-web-key", 26],
  ] as const)
    it(`is judged by the ${count} vectors of Wycheproof in ${name}`, async () => {
      const groups = readFile(`${name}.json`) as readonly VectorGroup[];
      const tests = groups.flatMap(({ key, tests: each }) =>
        each.map((test) => ({ ...test, keys: key.keys ?? [key] })),
      );
      const otherwise = new Set(Object.values(OTHERWISE[name] ?? {}).flat());

      const wrong = [];
      for (const { tcId, comment, jws, result, keys } of tests) {
        const isValid = (await verify(keys, jws)) !== undefined;
        if (isValid !== (result === "valid") && !otherwise.delete(tcId)) wrong.push(`${tcId} ${comment}: ${result}`);
      }

      expect(wrong).to.deep.equal([]);
      expect(tests).to.have.lengthOf(count);
      expect([...otherwise], "they have the result of the vector").to.deep.equal([]);
    });

  for (const { title, payload, key, compact } of readFile("rfc7520-section-4.json") as readonly Example[]) {
    // Sections 4.6 to 4.8 have the JSON form alone, which is no token (RFC 7519 section 1).
    if (compact === null) continue;
    it(`is that of RFC 7520: ${title}`, async () => {
      const isDetached = compact.includes("..");

      expect(
        await verify(
          [{ ...key, d: undefined, p: undefined, q: undefined, dp: undefined, dq: undefined, qi: undefined }],
          compact,
        ),
      ).to.equal(isDetached ? undefined : payload);
    });
  }
});

describe("jwcrypto", () => {
  before(needs("jwcrypto"));

  for (const algorithm of ["ES256", "EdDSA"] as const)
    it(`verifies tokens of TokenIssuer by its published keys, with ${algorithm}`, async () => {
      await using app = await startIssuing({ algorithm });
      const issuer = app.resolve(TokenIssuer);
      const text = await issuer.issue("user-7", ACCESS);
      const program = `
import sys
from jwcrypto import jwk, jws
token = jws.JWS()
token.allowed_algs = [sys.argv[3]]
token.deserialize(sys.argv[1])
keys = jwk.JWKSet.from_json(sys.argv[2])
token.verify(keys.get_key(token.jose_header["kid"]))
print(token.payload.decode())`;

      const claims = JSON.parse(await runPython(program, text, JSON.stringify(issuer.getJwks()), algorithm)) as object;

      expect(claims).to.include({ sub: "user-7", scope: "orders:read orders:list" });
    });

  for (const [kty, curve, alg] of [
    ["EC", "P-256", "ES256"],
    ["OKP", "Ed25519", "EdDSA"],
    ["RSA", "2048", "RS256"],
    ["RSA", "2048", "PS256"],
  ] as const)
    it(`signs tokens that bearer takes, with ${alg}`, async () => {
      const program = `
import sys, json
from jwcrypto import jwk, jwt
kty, curve, alg, claims = sys.argv[1:]
options = {"size": int(curve)} if kty == "RSA" else {"crv": curve}
key = jwk.JWK.generate(kty=kty, kid="python", **options)
token = jwt.JWT(header={"alg": alg, "typ": "at+jwt", "kid": "python"}, claims=json.loads(claims))
token.make_signed_token(key)
print(json.dumps([token.serialize(), json.loads(key.export_public())]))`;
      const claims = Buffer.from((await sign(await createKey())).split(".")[1] ?? "", "base64url").toString();

      const [text, jwk] = JSON.parse(await runPython(program, kty, curve, alg, claims)) as [string, object];

      await using app = await startOrders({ jwks: { keys: [jwk] } });
      expect((await send(app, text)).status, String(NOW)).to.equal(200);
    });
});
