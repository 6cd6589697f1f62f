/** An application that is its own issuer: its access tokens, its keys, and their replacement. */
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { inspect } from "node:util";
import { SigningKeys, TokenIssuer } from "@stagecraft/framework/auth/jwt";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import { errorOf } from "../../support/error-of.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { AUDIENCE, encode, ISSUER, NOW, orders, send, sign, startOrders } from "./bearer-application.js";
import { ACCESS, issuingOf, KEY, startIssuing } from "./issuing-application.js";

const OTHER_KEY = "7c".repeat(64);

const readPart = (text: string, index: number): unknown =>
  JSON.parse(Buffer.from(text.split(".")[index] ?? "", "base64url").toString());

describe("TokenIssuer", () => {
  it("issues tokens that bearer takes, until they expire", async () => {
    const clock = new FakeClock(NOW * 1000);
    await using app = await startIssuing({ clockToleranceMs: 0 }, clock);
    const text = await app.resolve(TokenIssuer).issue("user-7", ACCESS);

    const identity = await (await send(app, text)).json<{ claims: object }>();
    expect(identity).to.include({ subject: "user-7", clientId: "till" });
    expect(readPart(text, 0)).to.include({ alg: "ES256", typ: "at+jwt" });
    expect(readPart(text, 1))
      .to.include({ iss: ISSUER, aud: AUDIENCE, iat: NOW, exp: NOW + 600 })
      .and.have.property("jti");
    expect((await send(app, text, orders.read.url())).status).to.equal(200);
    clock.advance(599_999);
    expect((await send(app, text)).status).to.equal(200);
    clock.advance(1);
    expect((await send(app, text)).status).to.equal(401);
  });

  it("replaces no claim of the standard by one of the application", async () => {
    await using app = await startIssuing();
    const claims = { team: "a", iss: "https://evil.example", exp: NOW * 2, sub: "admin" };

    expect(readPart(await app.resolve(TokenIssuer).issue("user-7", { claims }), 1)).to.include({
      team: "a",
      iss: ISSUER,
      exp: NOW + 600,
      sub: "user-7",
    });
  });

  it("issues no token with a scope that would be two", async () => {
    await using app = await startIssuing();
    const issuer = app.resolve(TokenIssuer);

    for (const scopes of [["orders:read orders:write"], ["orders:read", ""], ['a"b'], [7], ["a\n"]])
      expect(await rejectionOf(issuer.issue("user-7", { scopes: scopes as string[] }))).to.have.property("status", 422);
  });

  for (const algorithm of ["ES256", "EdDSA"] as const)
    it(`publishes public keys alone, by which another program verifies, with ${algorithm}`, async () => {
      await using app = await startIssuing({ algorithm, keys: [KEY, OTHER_KEY] });
      const issuer = app.resolve(TokenIssuer);
      const { keys } = issuer.getJwks();

      expect(keys).to.have.lengthOf(2);
      for (const key of keys) expect(key).to.include({ alg: algorithm, use: "sig" }).and.not.have.any.keys("d", "k");
      const set = createLocalJWKSet(JSON.parse(JSON.stringify({ keys })) as JSONWebKeySet);
      const options = { issuer: ISSUER, audience: AUDIENCE, typ: "at+jwt", currentDate: new Date(NOW * 1000) };
      const { payload } = await jwtVerify(await issuer.issue("user-7"), set, options);
      expect(payload.sub).to.equal("user-7");
    });

  it("signs with the first key and takes tokens of all, in every process with these keys", async () => {
    await using before = await startIssuing({ keys: KEY });
    await using during = await startIssuing({ keys: [OTHER_KEY, KEY] });
    await using after = await startIssuing({ keys: OTHER_KEY });
    const text = await before.resolve(TokenIssuer).issue("user-7");
    const next = await during.resolve(TokenIssuer).issue("user-7");

    const statuses = [];
    for (const app of [before, during, after])
      for (const each of [text, next]) statuses.push((await send(app, each)).status);

    expect(statuses).to.deep.equal([200, 401, 200, 200, 401, 200]);
  });

  it("takes a private key that other programs know", async () => {
    for (const [algorithm, pair] of [
      ["ES256", generateKeyPairSync("ec", { namedCurve: "P-256" })],
      ["EdDSA", generateKeyPairSync("ed25519")],
    ] as const) {
      const key = createPrivateKey(pair.privateKey.export({ format: "pem", type: "pkcs8" }));
      await using app = await startIssuing({ keys: key, algorithm });
      const text = await app.resolve(TokenIssuer).issue("user-7");
      await using other = await startOrders({ jwks: { keys: [pair.publicKey.export({ format: "jwk" })] } });

      expect((await send(app, text)).status).to.equal(200);
      expect((await send(other, text)).status).to.equal(401);
      const withId = { jwks: app.resolve(TokenIssuer).getJwks() };
      await using published = await startOrders(withId);
      expect((await send(published, text)).status).to.equal(200);
    }
  });

  it("refuses tokens without a signature, and those of other keys", async () => {
    await using app = await startIssuing();
    const text = await app.resolve(TokenIssuer).issue("user-7");
    const [header, payload = ""] = text.split(".");
    const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const forged = await sign({ privateKey: pair.privateKey as never, jwk: {} }, {}, readPart(text, 0) as object);

    for (const each of [`${header}.${payload}.`, `${encode({ alg: "none", typ: "at+jwt" })}.${payload}.AAAA`, forged])
      expect((await send(app, each)).status).to.equal(401);
  });

  for (const [title, code, options] of [
    ["a short key", "E_CRYPTO_KEY", { keys: "5a" }],
    ["no keys", "E_CRYPTO_KEY", { keys: [] }],
    [
      "a private key of another curve",
      "E_CRYPTO_KEY",
      { keys: generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey },
    ],
    ["an unknown algorithm", "E_AUTH_OPTION", { algorithm: "HS256" }],
    ["a token for ever", "E_AUTH_OPTION", { lifetimeMs: Infinity }],
    ["no audience", "E_AUTH_OPTION", { audience: [] }],
    ["an unknown option", "E_OPTION", { lifetime: 7 }],
  ] as const)
    it(`is refused with ${title}`, () => {
      expect(errorOf(() => issuingOf(options as never))).to.have.property("code", code);
    });

  it("shows no key when it is printed", async () => {
    await using app = await startIssuing();
    const printed = inspect([app.resolve(TokenIssuer), new SigningKeys(KEY, "ES256")], { depth: 12, showHidden: true });

    expect(printed)
      .to.include("TokenIssuer")
      .and.not.match(/\bd: '/)
      .and.not.include(KEY);
  });
});
