/** The keys that an issuer publishes: when they are read, what happens while the issuer is down, and sets that are none. */
import { generateKeyPairSync, sign as signBytes } from "node:crypto";
import { FakeClock, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { OAuth2Server } from "oauth2-mock-server";
import { until } from "../../support/until.js";
import {
  AUDIENCE,
  CLAIMS,
  createKey,
  encode,
  NOW,
  reasonsOf,
  send,
  sign,
  startOrders,
  type TestKey,
} from "./bearer-application.js";
import { KeyServer } from "./key-server.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const warningsOf = (app: TestApp) => app.logs.lines().filter((line) => line.includes("keys of an issuer not read"));

/** A token that is valid for a day. */
const signLong = (key: TestKey, header = {}) => sign(key, { exp: NOW + 86_400 }, header);

describe("the keys of an issuer", () => {
  let keys: KeyServer;
  let app: TestApp;
  let clock: FakeClock;
  let first: TestKey;
  let second: TestKey;
  let text: string;

  before(async () => {
    first = await createKey("first");
    second = await createKey("second");
    text = await signLong(first);
  });
  beforeEach(async () => {
    keys = await KeyServer.start();
    keys.serveKeys(first);
    clock = new FakeClock(NOW * 1000);
    app = await startOrders({ jwksUrl: keys.url }, clock);
  });
  afterEach(async () => {
    await app.stop();
    await keys[Symbol.asyncDispose]();
  });

  const statusOf = async (token: string) => (await send(app, token)).status;

  it("are read at the first token and not at the start, once for requests at the same time", async () => {
    expect(keys.requests).to.equal(0);

    const statuses = await Promise.all(Array.from({ length: 10 }, () => statusOf(text)));

    expect(statuses).to.deep.equal(Array<number>(10).fill(200));
    expect(keys.requests).to.equal(1);
  });

  it("are not read for texts that are no token", async () => {
    for (const each of ["x", "a.b.c", await sign(first, {}, { typ: "JWT" })])
      expect(await statusOf(each)).to.equal(401);

    expect(keys.requests).to.equal(0);
  });

  it("are read again after ten minutes, and a key that the issuer has withdrawn counts no more", async () => {
    expect(await statusOf(text)).to.equal(200);
    keys.serveKeys(second);
    clock.advance(5 * MINUTE_MS - 1);
    expect(await statusOf(text)).to.equal(200);
    expect(keys.requests).to.equal(1);

    clock.advance(5 * MINUTE_MS + 1);

    expect(await statusOf(text)).to.equal(401);
    expect([keys.requests, reasonsOf(app)]).to.deep.equal([2, ["key"]]);
  });

  it("are read beside the requests after five minutes, so that none waits", async () => {
    await statusOf(text);
    keys.respond = () => undefined;
    clock.advance(5 * MINUTE_MS);

    expect(await statusOf(text)).to.equal(200);

    await until(() => keys.requests === 2);
    expect(await statusOf(text)).to.equal(200);
    clock.advance(5001);
    await until(() => warningsOf(app).length === 1);
  });

  it("are read for an unknown key id, at most every 30 seconds", async () => {
    await statusOf(text);
    keys.serveKeys(first, second);
    const later = await signLong(second, { kid: "second" });
    expect(await statusOf(later)).to.equal(401);

    clock.advance(30_000);
    expect(await statusOf(later)).to.equal(200);
    for (let at = 0; at < 20; at++) expect(await statusOf(await signLong(first, { kid: `x${at}` }))).to.equal(401);

    expect(keys.requests).to.equal(2);
  });

  it("are replaced under load, without a refused token", async () => {
    await statusOf(text);
    const later = await signLong(second, { kid: "second" });
    const load = () => Promise.all(Array.from({ length: 100 }, (_, at) => statusOf(at % 2 === 0 ? later : text)));
    keys.serveKeys(second, first);
    clock.advance(30_000);

    expect(new Set(await load())).to.deep.equal(new Set([200]));
    expect(keys.requests).to.equal(2);
    clock.advance(5 * MINUTE_MS);
    expect(new Set(await load())).to.deep.equal(new Set([200]));
    await until(() => keys.requests === 3);
  });

  it("are read after a byte order mark", async () => {
    keys.serve(`\ufeff${JSON.stringify({ keys: [first.jwk] })}`);

    expect(await statusOf(text)).to.equal(200);
  });

  it("count for an hour while the issuer is down, and no request waits for it", async () => {
    await statusOf(text);
    keys.fail();
    clock.advance(10 * MINUTE_MS);
    expect(await statusOf(text)).to.equal(200);
    const { requests } = keys;
    for (let at = 0; at < 10; at++) expect(await statusOf(text)).to.equal(200);
    expect(keys.requests).to.equal(requests);

    keys.respond = () => undefined;
    clock.advance(49 * MINUTE_MS);
    expect(await statusOf(text)).to.equal(200);
  });

  it("are a 503 with Retry-After after that, and never a 401, until the issuer is back", async () => {
    await statusOf(text);
    keys.fail();
    clock.advance(HOUR_MS);

    const refused = await send(app, text);

    expect([refused.status, refused.headers.get("retry-after"), refused.headers.get("www-authenticate")]).to.deep.equal(
      [503, "1", null],
    );
    keys.serveKeys(first);
    clock.advance(1000);
    expect(await statusOf(text)).to.equal(200);
  });

  it("are asked for less often while the issuer is down, at least every 30 seconds", async () => {
    keys.fail();
    const seconds = [];
    for (let at = 0; at < 200; at++) {
      const before = keys.requests;
      expect(await statusOf(text)).to.equal(503);
      if (keys.requests > before) seconds.push(at);
      clock.advance(1000);
    }

    expect(seconds).to.deep.equal([0, 1, 3, 7, 15, 31, 61, 91, 121, 151, 181]);
  });

  it("are a 503 for an unknown key id while the issuer is down, because it may be a new one", async () => {
    await statusOf(text);
    keys.fail();
    clock.advance(30_000);

    expect(await statusOf(await signLong(second, { kid: "second" }))).to.equal(503);
    expect(await statusOf(text)).to.equal(200);
  });

  it("of an issuer that hangs are given up after five seconds", async () => {
    keys.respond = () => undefined;
    const response = send(app, text);
    await until(() => keys.requests === 1);
    clock.advance(5000);

    expect((await response).status).to.equal(503);
  });

  it("of an issuer that hangs in the middle are given up too", async () => {
    keys.respond = (response) => void response.write('{"keys":');
    const response = send(app, text);
    await until(() => keys.requests === 1);
    clock.advance(5000);

    expect((await response).status).to.equal(503);
  });

  for (const [title, serve] of [
    ["no JSON", () => keys.serve("<html>")],
    ["a list", () => keys.serve([])],
    ["null", () => keys.serve("null")],
    ["keys that are no list", () => keys.serve({ keys: {} })],
    ["no keys", () => keys.serve({ keys: [] })],
    ["keys that are no objects", () => keys.serve({ keys: [null, 7, "key", []] })],
    ["keys without their numbers", () => keys.serve({ keys: [{ kty: "EC", crv: "P-256", kid: "first" }] })],
    ["1,000 keys", () => keys.serve({ keys: Array<object>(1000).fill(first.jwk) })],
    ["a shared secret", () => keys.serve({ keys: [{ kty: "oct", kid: "first", k: "AAAA", alg: "HS256" }] })],
    ["the private key", () => keys.serve({ keys: [{ ...first.jwk, d: "A".repeat(43) }] })],
    ["a key for encryption", () => keys.serve({ keys: [{ ...first.jwk, use: "enc" }] })],
    ["a key for other operations", () => keys.serve({ keys: [{ ...first.jwk, key_ops: ["encrypt"] }] })],
    ["a redirect", () => (keys.respond = (response) => response.writeHead(302, { location: "/other" }).end())],
    ["half of a text", () => keys.serve(JSON.stringify({ keys: [first.jwk] }).slice(0, -1))],
    ["a cut connection", () => (keys.respond = (response) => response.destroy())],
  ] as const)
    it(`that are ${title} are a failure of the issuer`, async () => {
      await statusOf(text);
      serve();
      clock.advance(20 * MINUTE_MS);
      expect(await statusOf(text)).to.equal(200);

      clock.advance(HOUR_MS);
      expect(await statusOf(text)).to.equal(503);
      expect(warningsOf(app)).to.have.length.above(0);
    });

  it("that are 100 MB are cut after 256 kB", async () => {
    let sent = 0;
    const chunk = Buffer.alloc(65_536, " ");
    keys.respond = (response) => {
      const write = (): void => {
        while (sent < 100_000_000 && !response.destroyed) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once("drain", write);
        }
        response.end();
      };
      write();
    };

    expect(await statusOf(text)).to.equal(503);
    expect(warningsOf(app).join()).to.include("more than 262144 bytes");
    expect(sent).to.be.below(50_000_000);
  });

  it("leave out one that is private, and take the others", async () => {
    const leaked = { ...second.jwk, d: "canary4711secret".padEnd(43, "A") };
    keys.serve({ keys: [leaked, first.jwk] });

    expect(await statusOf(text)).to.equal(200);
    expect(await statusOf(await signLong(second, { kid: "second" }))).to.equal(401);
    const lines = app.logs.lines().join("\n");
    expect(lines).to.include("issuer publishes private keys").and.not.include("canary4711secret");
  });

  it("leave out an RSA key of 1024 bits", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
    keys.serve({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "short" }, first.jwk] });
    const signed = `${encode({ alg: "RS256", typ: "at+jwt", kid: "short" })}.${encode({ ...CLAIMS, exp: NOW + 86_400 })}`;

    const signature = signBytes("sha256", Buffer.from(signed), privateKey).toString("base64url");

    expect(await statusOf(`${signed}.${signature}`)).to.equal(401);
    expect(await statusOf(text)).to.equal(200);
  });
});

describe("discovery", () => {
  let server: OAuth2Server;
  let app: TestApp;
  let clock: FakeClock;

  beforeEach(async () => {
    clock = new FakeClock(Date.now());
    server = new OAuth2Server();
    await server.issuer.keys.generate("ES256", { kid: "one" });
    await server.start(0, "127.0.0.1");
    app = await startOrders({ issuer: server.issuer.url ?? "", audience: AUDIENCE }, clock);
  });
  afterEach(async () => {
    await app.stop();
    if (server.listening) await server.stop();
  });

  const issue = (claims: object = {}, kid?: string) =>
    server.issuer.buildToken({
      kid,
      scopesOrTransform: (header, payload) => {
        header["typ"] = "at+jwt";
        Object.assign(payload, { aud: AUDIENCE, sub: "user-7" }, claims);
      },
    });

  it("finds the keys of an issuer, and new ones after a rotation", async () => {
    expect((await send(app, await issue())).status).to.equal(200);

    await server.issuer.keys.generate("ES256", { kid: "two" });
    const rotated = await issue({}, "two");
    expect((await send(app, rotated)).status).to.equal(401);
    clock.advance(30_000);
    expect((await send(app, rotated)).status).to.equal(200);
  });

  it("is not followed for an issuer or an audience that a token claims", async () => {
    for (const claims of [{ iss: "https://evil.example" }, { aud: "https://other.example" }])
      expect((await send(app, await issue(claims))).status).to.equal(401);

    expect(reasonsOf(app)).to.deep.equal(["issuer", "audience"]);
  });

  it("of an issuer that is down is a 503", async () => {
    const text = await issue();
    await server.stop();

    expect((await send(app, text)).status).to.equal(503);
  });

  for (const [title, document] of [
    ["another issuer", { issuer: "https://evil.example" }],
    ["the issuer with a slash", (origin: string) => ({ issuer: `${origin}/` })],
    ["keys over http of another machine", (origin: string) => ({ issuer: origin, jwks_uri: "http://id.example/keys" })],
    ["keys in a file", (origin: string) => ({ issuer: origin, jwks_uri: "file:///etc/passwd" })],
    ["no keys", (origin: string) => ({ issuer: origin })],
  ] as const)
    it(`refuses a document of ${title}`, async () => {
      await using keys = await KeyServer.start();
      const { origin } = keys;
      keys.serve(typeof document === "function" ? document(origin) : { ...document, jwks_uri: keys.url });
      await using started = await startOrders({ issuer: origin });

      expect((await send(started, await sign(await createKey(), { iss: origin }))).status).to.equal(503);
      expect(keys.requests).to.equal(1);
    });
});
