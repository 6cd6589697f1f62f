/** The guard `bearer`: the identity that it adds, its refusals, and tokens that are none. */
import { createHmac } from "node:crypto";
import { Application, Controller, Get, Module, provide, routes } from "@stagecraft/framework";
import { bearer, issuer } from "@stagecraft/framework/auth/guards";
import { TokenVerifier } from "@stagecraft/framework/auth/jwt";
import { expectProblem, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { errorOf } from "../../support/error-of.js";
import { startupErrorOf } from "../../support/startup-error-of.js";
import {
  AUDIENCE,
  buildOrders,
  CLAIMS,
  company,
  createKey,
  encode,
  ISSUER,
  NOW,
  orders,
  reasonsOf,
  send,
  sign,
  startOrders,
  type TestKey,
  verificationOf,
} from "./bearer-application.js";

const challengeOf = (response: Response) => response.headers.get("www-authenticate");
const INVALID = 'Bearer realm="api", error="invalid_token"';
const DAY = 86_400;

/** Its claims, header and the reason of the refusal. */
type WrongToken = readonly [title: string, reason: string, claims: object | string, header?: object];

const WRONG: readonly WrongToken[] = [
  ["an end that is a text", "claims", { exp: String(NOW + 600) }],
  ["an end of 1e400", "claims", JSON.stringify(CLAIMS).replace(/"exp":\d+/, '"exp":1e400')],
  ["an end of 1e300", "claims", JSON.stringify(CLAIMS).replace(/"exp":\d+/, '"exp":1e300')],
  ["an end in milliseconds", "claims", { exp: (NOW + 600) * 1000 }],
  ["a start before all years", "claims", { nbf: -1e300 }],
  ["an end of null", "claims", { exp: null }],
  ["no end", "claims", { exp: undefined }],
  ["a negative end", "expired", { exp: -1 }],
  ["an end a minute ago", "expired", { exp: NOW - 60 }],
  ["an end a day ago", "expired", { exp: NOW - DAY, iat: NOW - DAY - 600 }],
  ["a start in two minutes", "early", { nbf: NOW + 120 }],
  ["a start that is a text", "claims", { nbf: "soon" }],
  ["the clock of an issuer that is a day ahead", "early", { iat: NOW + DAY, exp: NOW + DAY + 600 }],
  ["an audience that is an object", "claims", { aud: { [AUDIENCE]: true } }],
  ["an audience that is a list of numbers", "claims", { aud: [AUDIENCE, 7] }],
  ["an audience that is a number", "claims", { aud: 7 }],
  ["an empty list of audiences", "audience", { aud: [] }],
  ["no audience", "claims", { aud: undefined }],
  ["the audience of another application", "audience", { aud: "https://api.other.example" }],
  ["an audience that begins alike", "audience", { aud: `${AUDIENCE}.evil.example` }],
  ["another issuer", "issuer", { iss: "https://id.other.example" }],
  ["the issuer with a slash", "issuer", { iss: `${ISSUER}/` }],
  ["an issuer that is a list", "issuer", { iss: [ISSUER] }],
  ["no subject", "claims", { sub: undefined }],
  ["a subject that is a number", "claims", { sub: 7 }],
  ["scopes that are an object", "claims", { scope: { "orders:read": true } }],
  ["a client that is a list", "claims", { client_id: ["till"] }],
  ["a payload that is a list", "claims", "[]"],
  ["a payload that is a token", "claims", "eyJhbGciOiJub25lIn0.e30."],
  ["a payload that is no JSON", "claims", "{"],
  ["the type of an ID token", "type", {}, { typ: "JWT" }],
  ["no type", "type", {}, { typ: undefined }],
  ["a type that is a list", "type", {}, { typ: ["at+jwt"] }],
  ["a key id of nobody", "key", {}, { kid: "../../etc/passwd" }],
  ["a key id of a prototype", "key", {}, { kid: "__proto__" }],
  ["a key id that is a number", "form", {}, { kid: 7 }],
  ["a critical extension", "form", {}, { crit: ["b64"], b64: true }],
];

describe("bearer", () => {
  let app: TestApp;
  let key: TestKey;

  before(async () => {
    key = await createKey();
    app = await startOrders({ jwks: { keys: [key.jwk] } });
  });
  after(() => app.stop());

  /** Refused with 401, and with this reason in the log. */
  async function expectRefused(text: string, reason: string): Promise<void> {
    const response = await send(app, text);
    await expectProblem(response, { status: 401, slug: "authentication" });
    expect(challengeOf(response)).to.equal(INVALID);
    expect(reasonsOf(app).at(-1)).to.equal(reason);
  }

  it("adds subject, issuer, scopes, client and claims", async () => {
    const identity = await (await send(app, await sign(key, { team: "a" }))).json();

    expect(identity).to.deep.equal({
      subject: "user-7",
      issuer: ISSUER,
      scopes: ["orders:read", "orders:list"],
      clientId: "till",
      claims: { ...CLAIMS, team: "a" },
    });
  });

  for (const [title, claims, header] of [
    ["a list of audiences", { aud: ["https://other.example", AUDIENCE] }, {}],
    ["the type with its media type, in capitals", {}, { typ: "application/AT+JWT" }],
    ["no scope, no client, no start", { scope: undefined, client_id: undefined, iat: undefined }, {}],
    ["no key id, where the issuer has one key", {}, { kid: undefined }],
    ["the clock of an issuer that is a minute ahead", { iat: NOW + 60, nbf: NOW + 60 }, {}],
    ["the clock of an issuer that is a minute behind", { iat: NOW - 659, exp: NOW - 59 }, {}],
    [
      "headers that name other keys, which are not read",
      {},
      { jku: "http://127.0.0.1:1/", x5u: "http://127.0.0.1:1/" },
    ],
  ] as const)
    it(`takes a token with ${title}`, async () => {
      expect((await send(app, await sign(key, claims, header))).status).to.equal(200);
    });

  it("reads the scopes of the claim scp too", async () => {
    for (const scp of ["orders:read orders:list", ["orders:read", "orders:list"]]) {
      const text = await sign(key, { scope: undefined, scp });
      expect((await send(app, text, orders.read.url())).status).to.equal(200);
    }
  });

  it("refuses a token without the scopes with a 403 that names them", async () => {
    for (const scope of ["orders:read", "orders:list", "orders:read.all orders:lis", ""]) {
      const response = await send(app, await sign(key, { scope }), orders.read.url());

      await expectProblem(response, { status: 403, slug: "scope" });
      expect(challengeOf(response)).to.equal(
        'Bearer realm="api", error="insufficient_scope", scope="orders:read orders:list"',
      );
    }
  });

  it("asks a request without a token for one, without an error code", async () => {
    for (const headers of [{}, { authorization: "Basic YTpi" }, { authorization: "Bearerx" }]) {
      const response = await app.get(orders.list.url(), { headers });

      await expectProblem(response, { status: 401, slug: "authentication" });
      expect(challengeOf(response)).to.equal('Bearer realm="api"');
    }
  });

  it("refuses two headers, of which a proxy may have read the other", async () => {
    const text = await sign(key);
    const response = String(
      await app.raw(
        `GET ${orders.list.url()} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${text}\r\nAuthorization: Bearer x\r\nConnection: close\r\n\r\n`,
      ),
    );

    expect(response)
      .to.match(/^HTTP\/1\.1 400 /)
      .and.include('error="invalid_request"');
  });

  for (const [title, reason, claims, header] of WRONG)
    it(`refuses a token with ${title}`, async () => {
      await expectRefused(await sign(key, claims, header), reason);
    });

  it("counts the last of two members with one name, in header and claims", async () => {
    const payload = JSON.stringify(CLAIMS);
    await expectRefused(await sign(key, payload.replace("}", `,"exp":1}`)), "expired");
    expect((await send(app, await sign(key, payload.replace("{", `{"exp":1,`)))).status).to.equal(200);

    const text = await sign(key);
    const [, ...rest] = text.split(".");
    const header = `{"alg":"ES256","typ":"at+jwt","kid":"first","alg":"none"}`;
    await expectRefused([encode(header), ...rest].join("."), "algorithm");
  });

  it("refuses a token without a signature", async () => {
    for (const alg of ["none", "None", "", undefined, null, ["ES256"], { ES256: 1 }]) {
      const unsigned = `${encode({ alg, typ: "at+jwt" })}.${encode(CLAIMS)}`;
      await expectRefused(`${unsigned}.`, "form");
      await expectRefused(`${unsigned}.AAAA`, "algorithm");
    }
  });

  it("refuses a token that is signed with the public key as a secret", async () => {
    const signed = `${encode({ alg: "HS256", typ: "at+jwt", kid: "first" })}.${encode(CLAIMS)}`;
    const mac = createHmac("sha256", JSON.stringify(key.jwk)).update(signed).digest("base64url");

    await expectRefused(`${signed}.${mac}`, "algorithm");
  });

  it("refuses a token of another key, also of one that its header brings", async () => {
    const other = await createKey();

    await expectRefused(await sign(other), "signature");
    await expectRefused(await sign(other, {}, { jwk: other.jwk }), "signature");
  });

  it("refuses a token of which a bit has changed", async () => {
    const [header = "", payload = "", signature = ""] = (await sign(key)).split(".");
    const changed = encode({ ...CLAIMS, sub: "admin" });

    await expectRefused(`${header}.${changed}.${signature}`, "signature");
    await expectRefused(`${header}.${payload}.${"A".repeat(86)}`, "signature");
    await expectRefused(`${header}.${payload}.${signature.slice(0, -2)}`, "signature");
    await expectRefused(`${header}.${payload}.`, "form");
    await expectRefused(`${header}.${payload}`, "form");
    await expectRefused(`${header}.${payload}.${signature}.a.b`, "form");
    await expectRefused(`${header}.${payload}.${signature}=`, "form");
    await expectRefused(`${encode("[]")}.${payload}.${signature}`, "form");
    await expectRefused(`${encode("{")}.${payload}.${signature}`, "form");
  });

  it("reads nothing of a text that is too long, at any length", async () => {
    const verifier = app.resolve(TokenVerifier.of(company));
    const long = await sign(key, {}, { kid: "k".repeat(100_000) });
    const started = performance.now();

    for (const text of [long, "x".repeat(100_000), `${"a".repeat(50_000)}.`.repeat(20), ".".repeat(100_000), ""])
      for (let at = 0; at < 100; at++) expect(await verifier.verify(text)).to.equal(undefined);
    for (const value of [undefined, null, 7, {}, ["a"]])
      expect(await verifier.verify(value as string)).to.equal(undefined);

    expect(performance.now() - started).to.be.below(10_000);
  });
});

describe("an issuer", () => {
  it("without tokenVerification() stops the start of an application that names it", () => {
    const nobody = issuer("nobody");
    const table = routes("nobody", "/nobody", { list: Get("/", { guards: [bearer(nobody)] }) });
    @Controller(table)
    class NobodyController {
      @table.list list() {
        return "";
      }
    }
    @Module({ controllers: [NobodyController] })
    class NobodyModule {}

    const error = startupErrorOf(() => Application.create(NobodyModule).build());

    expect(error.message).to.include("bearer of nobody has no provider");
  });

  it("has a name, and bearer takes an issuer and a list of scopes", () => {
    for (const name of ["", "a b", "x".repeat(65), 7])
      expect(errorOf(() => issuer(name as string))).to.have.property("code", "E_GUARD");
    for (const given of ["company", undefined, {}, { name: "company" }])
      expect(errorOf(() => bearer(given as never))).to.have.property("code", "E_GUARD");
    for (const scopes of ["read", [7], ["two words"], [""], ['a"b'], 7])
      expect(errorOf(() => bearer(company, { scopes } as never))).to.have.property("code", "E_GUARD");
  });

  for (const [title, options] of [
    ["an issuer that is no address, without keys", { issuer: "company" }],
    ["an address over http", { issuer: "http://id.company.example" }],
    ["keys over http", { jwksUrl: "http://id.company.example/keys" }],
    ["keys at an address with a password", { jwksUrl: "https://a:b@id.company.example/keys" }],
    ["no audience", { audience: [] }],
    ["an unknown algorithm", { algorithms: ["none"] }],
    ["no algorithms", { algorithms: [] }],
    ["a shared secret beside a public key", { algorithms: ["HS256", "ES256"], jwks: { keys: [] } }],
    ["a shared secret without keys", { algorithms: ["HS256"] }],
    ["clocks that differ by a day", { clockToleranceMs: 86_400_000 }],
    ["tokens of a megabyte", { maxLength: 1_000_000 }],
    ["keys that count for a week", { staleMs: 7 * 86_400_000 }],
    ["two sources of keys", { jwksUrl: "https://id.company.example/keys", jwks: { keys: [] } }],
  ] as const)
    it(`is refused with ${title}`, () => {
      expect(errorOf(() => verificationOf(options as never))).to.have.property("code", "E_AUTH_OPTION");
    });

  it("is refused with an unknown option", () => {
    expect(errorOf(() => verificationOf({ algoritms: ["ES256"] } as never))).to.have.property("code", "E_OPTION");
  });

  it("may share a secret, from its keys alone", async () => {
    const k = Buffer.alloc(32, 7);
    const jwks = { keys: [{ kty: "oct", kid: "first", k: k.toString("base64url") }] };
    const options = { jwks, algorithms: ["HS256"] } as const;
    await using app = await startOrders(options);
    const signed = `${encode({ alg: "HS256", typ: "at+jwt", kid: "first" })}.${encode(CLAIMS)}`;

    const mac = createHmac("sha256", k).update(signed).digest("base64url");

    expect((await send(app, `${signed}.${mac}`)).status).to.equal(200);
    expect((await send(app, await sign(await createKey()))).status).to.equal(401);
  });

  it("with keys of other algorithms is a fault of the configuration, and no 401", async () => {
    const { jwk } = await createKey();
    await using app = await startOrders({ jwks: { keys: [jwk] }, algorithms: ["RS256"] });

    expect((await send(app, `${encode({ alg: "RS256", typ: "at+jwt" })}.${encode(CLAIMS)}.AAAA`)).status).to.equal(500);
  });

  it("may be replaced in a test by a double of its verifier", async () => {
    const identity = { subject: "ada", issuer: ISSUER, scopes: [], clientId: undefined, claims: {} };
    const double = { verify: () => Promise.resolve(identity) } as unknown as TokenVerifier;
    const app = testApp(buildOrders(verificationOf({})), provide(TokenVerifier.of(company)).useValue(double));
    await using started = await app;

    expect(await (await send(started, "x")).json()).to.include({ subject: "ada" });
  });
});
