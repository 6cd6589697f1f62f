/** Tokens that try to choose how they are verified, and places of a request that are none for a token. */
import { KeyObject, sign as signBytes } from "node:crypto";
import { content, Controller, Module, Post, routes } from "@stagecraft/framework";
import { bearer } from "@stagecraft/framework/auth/guards";
import { expectProblem, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { CompactEncrypt, importJWK } from "jose";
import { z } from "zod";
import {
  CLAIMS,
  company,
  createKey,
  encode,
  orders,
  reasonsOf,
  send,
  sign,
  startOrders,
  type TestKey,
  verificationOf,
} from "./bearer-application.js";
import { KeyServer } from "./key-server.js";

const HEADER = { alg: "ES256", typ: "at+jwt", kid: "first" };

/** Signs any two texts, also those that a library refuses to sign. */
function signTexts({ privateKey }: TestKey, header: string, payload: string): string {
  const signed = `${encode(header)}.${encode(payload)}`;
  const key = { key: KeyObject.from(privateKey), dsaEncoding: "ieee-p1363" } as const;
  return `${signed}.${signBytes("sha256", Buffer.from(signed), key).toString("base64url")}`;
}

describe("a hostile token", () => {
  let app: TestApp;
  let key: TestKey;

  before(async () => {
    key = await createKey();
    app = await startOrders({ jwks: { keys: [key.jwk] } });
  });
  after(() => app.stop());

  async function expectRefused(text: string, reason: string): Promise<void> {
    await expectProblem(await send(app, text), { status: 401, slug: "authentication" });
    expect(reasonsOf(app).at(-1)).to.equal(reason);
  }

  const signHeader = (header: object) =>
    signTexts(key, JSON.stringify({ ...HEADER, ...header }), JSON.stringify(CLAIMS));

  it("is refused with a key id of SQL, of a path, and of 10 kB", async () => {
    for (const kid of ["' OR 1=1 --", "../../../../dev/null", "/dev/null", "first\0", "FIRST", "", "k".repeat(5000)])
      await expectRefused(signHeader({ kid }), "key");

    await expectRefused(signHeader({ kid: "k".repeat(10_000) }), "length");
  });

  it("sends the application to no server that its header names", async () => {
    await using keys = await KeyServer.start();
    const other = await createKey();
    keys.serveKeys(other);
    const named = { jku: keys.url, x5u: keys.url, jwk: other.jwk, x5c: ["MIIB"], "x5t#S256": "A" };

    await expectRefused(await sign(other, {}, named), "signature");
    await expectRefused(await sign(other, {}, { ...named, kid: keys.url }), "key");
    expect((await send(app, signHeader(named))).status).to.equal(200);
    expect(keys.requests).to.equal(0);
  });

  for (const header of [
    { crit: ["b64"], b64: false },
    { b64: false },
    { b64: true },
    { crit: [] },
    { crit: null },
    { crit: ["exp"], exp: 1 },
    { crit: "b64" },
  ])
    it(`is refused with the extensions ${JSON.stringify(header)}`, async () => {
      await expectRefused(signHeader(header), "form");
    });

  it("is refused with a payload that is not encoded", async () => {
    const [header, , signature] = signHeader({ b64: false, crit: ["b64"] }).split(".");

    await expectRefused(`${header}.${JSON.stringify(CLAIMS).replaceAll(".", "")}.${signature}`, "form");
  });

  it("is refused when it is encrypted, or a token in a token", async () => {
    const inner = await sign(key);
    const encrypted = await new CompactEncrypt(Buffer.from(inner))
      .setProtectedHeader({ alg: "ECDH-ES", enc: "A128GCM", typ: "at+jwt", cty: "JWT", kid: "first" })
      .encrypt(await importJWK({ ...key.jwk }, "ECDH-ES"));

    await expectRefused(encrypted, "form");
    await expectRefused(await sign(key, inner, { cty: "JWT" }), "claims");
  });

  it("is refused with texts that are no JSON to each reader", async () => {
    const [header, payload] = [JSON.stringify(HEADER), JSON.stringify(CLAIMS)];
    for (const text of [`${header}x`, `\ufeff${header}`, header.replaceAll('"', "'"), `${header}${header}`, "null", ""])
      await expectRefused(signTexts(key, text, payload), "form");
    for (const text of [`${payload}x`, payload.replace("}", ",}"), `${payload}${payload}`, "null", '"eyJ"', "7"])
      await expectRefused(signTexts(key, header, text), "claims");
  });
});

describe("a token", () => {
  it("in a query, a form or a cookie is none", async () => {
    const body = content.form(z.object({ access_token: z.string() }));
    const table = routes("forms", "/forms", { send: Post("/", { guards: [bearer(company)], body }) });
    @Controller(table)
    class FormsController {
      @table.send send() {
        return "sent";
      }
    }
    const key = await createKey();
    @Module({ controllers: [FormsController], providers: [...verificationOf({ jwks: { keys: [key.jwk] } })] })
    class FormsModule {}
    await using app = await testApp(FormsModule);
    const access_token = await sign(key, { exp: 4_000_000_000 });

    const url = `${table.send.url()}?access_token=${access_token}`;
    const headers = { cookie: `access_token=${access_token}; token=${access_token}` };
    const response = await app.post(url, { form: { access_token }, headers });

    await expectProblem(response, { status: 401, slug: "authentication" });
    expect(response.headers.get("www-authenticate")).to.equal('Bearer realm="api"');
    const authorization = `Bearer ${access_token}`;
    expect((await app.post(url, { form: { access_token }, headers: { authorization } })).status).to.equal(200);
  });

  it("of 100 kB is refused by the parser", async () => {
    await using app = await startOrders({ jwks: { keys: [(await createKey()).jwk] }, maxLength: 65_536 });
    const head = `GET ${orders.list.url()} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${"x".repeat(100_000)}\r\n\r\n`;

    expect(String(await app.raw(head))).to.match(/^HTTP\/1\.1 431 /);
  });
});
