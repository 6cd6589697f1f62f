/** Sign-in at a provider that tells the truth, lies, fails or hangs, over a real socket. */
import { Identities } from "@stagecraft/framework/auth";
import { FakeClock, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { account, addPerson, AppUsers } from "../account-application.js";
import { type Lies, LiarProvider, SECRETS } from "./liar-provider.js";
import { providers, startProviders } from "./provider-application.js";

const START = providers.start.url("liar");
const MINUTE_MS = 60_000;

describe("the sign-in at a provider", function () {
  this.timeout(60_000);
  let liar: LiarProvider;
  let app: TestApp;
  let clock: FakeClock;
  let client: TestClient;

  beforeEach(async () => {
    liar = await LiarProvider.start();
    clock = new FakeClock();
    app = await startProviders({ clock, oauth: { providers: [liar.provider()], timeoutMs: 2_000 } });
    client = app.withCookies();
  });
  afterEach(async () => {
    await app.stop();
    await liar[Symbol.asyncDispose]();
  });

  const finish = async (path: string, by = client) => (await by.get(path)).json<{ kind: string }>();
  const signIn = async (by = client) => finish(await liar.visit(by, START), by);

  it("leads there with PKCE, a state and a nonce, and to the configured callback whatever the Host", async () => {
    const response = await client.get(START, { headers: { host: "evil.example" } });

    const url = new URL(response.headers.get("location") ?? "");
    const query = Object.fromEntries(url.searchParams);
    expect(response.status).to.equal(303);
    expect(url.origin + url.pathname).to.equal(`${liar.url}/authorize`);
    expect(query).to.include({ response_type: "code", client_id: "shop", code_challenge_method: "S256" });
    expect(query["redirect_uri"]).to.equal(app.url.replace("127.0.0.1", "localhost") + providers.callback.url("liar"));
    for (const name of ["state", "nonce", "code_challenge"]) expect(query[name], name).to.match(/^[\w-]{43}$/);
    expect(response.headers.get("cache-control")).to.equal("no-store");
  });

  it("signs a new person up with the verified address, and finds the person again by issuer and subject alone", async () => {
    const first = await signIn();
    liar.person = { sub: "ada-7", email: "other@shop.example", email_verified: false };
    const again = await signIn(app.withCookies());

    expect(first).to.deep.equal({ kind: "signed-in", userId: "user-1", isNew: true, returnTo: "/" });
    expect(again).to.deep.equal({ kind: "signed-in", userId: "user-1", isNew: false, returnTo: "/" });
    expect(app.resolve(AppUsers).created).to.deep.equal([
      { email: "ada@shop.example", data: { provider: "liar", name: "Ada" } },
    ]);
    const identity = await app.resolve(Identities).find("user-1");
    expect(identity).to.include({ email: "ada@shop.example", isVerified: true, password: undefined });
    expect(await (await client.get(account.show.url())).json()).to.include({ userId: "user-1" });
  });

  it("reads the address from the user endpoint where the ID token has none", async () => {
    liar.lies = { claims: { email: undefined, email_verified: undefined } };

    expect(await signIn()).to.include({ kind: "signed-in", isNew: true });
    expect(liar.requests).to.include("/userinfo");
  });

  it("gives two callbacks of one new person the same user", async () => {
    const others = [app.withCookies(), app.withCookies(), app.withCookies()];
    const paths = await Promise.all(others.map((each) => liar.visit(each, START)));

    const results = await Promise.all(paths.map((path, at) => finish(path, others[at])));

    expect(results.map(({ kind }) => kind)).to.deep.equal(["signed-in", "signed-in", "signed-in"]);
    expect(new Set(results.map((each) => Reflect.get(each, "userId")))).to.have.property("size", 1);
  });

  it("needs a verified address for a sign-up, and tells nothing about others", async () => {
    await addPerson(app, "ada");
    for (const person of [{ email: "ada@shop.example" }, { email: "new@shop.example" }, { email: "no address" }, {}]) {
      liar.person = { sub: "mallory", ...person };
      expect(await signIn(app.withCookies())).to.deep.equal({ kind: "email-needed" });
    }
  });

  it("does not link the identity of an address by itself", async () => {
    await addPerson(app, "ada");

    expect(await signIn()).to.deep.equal({ kind: "link-needed" });
    expect((await client.get(account.show.url())).status).to.equal(401);
  });

  it("counts once, and of two callbacks at the same time one wins", async () => {
    const path = await liar.visit(client, START);
    const cookies = await Promise.all([finish(path), finish(path)]);
    const replayed = await finish(path);

    expect(cookies.map(({ kind }) => kind).toSorted()).to.deep.equal(["expired", "signed-in"]);
    expect(replayed).to.deep.equal({ kind: "expired" });
    expect(liar.requests.filter((each) => each === "/token")).to.have.lengthOf(1);
  });

  it("belongs to the browser and the provider that have started it, for ten minutes, in each of several tabs", async () => {
    const paths = [await liar.visit(client, START), await liar.visit(client, START), await liar.visit(client, START)];
    const [first = "", second = "", third = ""] = paths;

    expect(await finish(first, app.withCookies())).to.deep.equal({ kind: "expired" });
    expect(await finish(second.replace(/state=.*/, "state=x"))).to.deep.equal({ kind: "expired" });
    expect((await client.get(first.replace("/liar?", "/nobody?"))).status).to.equal(404);
    expect(await finish(second)).to.include({ kind: "signed-in" });
    expect(await finish(first)).to.include({ kind: "signed-in" });
    clock.advance(11 * MINUTE_MS);
    expect(await finish(third)).to.deep.equal({ kind: "expired" });
    expect(await finish(`${third}&more=${"x".repeat(9000)}`)).to.deep.equal({ kind: "expired" });
  });

  it("keeps at most four cookies of attempts", async () => {
    for (let count = 0; count < 8; count++) await client.get(START);

    const response = await client.get(START);
    const deleted = response.headers
      .getSetCookie()
      .filter((line) => line.includes("oauth-") && line.includes("Max-Age=0"));
    expect(deleted).to.have.lengthOf(1);
  });

  it("returns to a path of this site alone", async () => {
    const results = [];
    for (const to of [
      "/links?page=2",
      "//evil.example",
      "https://evil.example",
      "/\\evil.example",
      `/${"x".repeat(2000)}`,
    ]) {
      const path = await liar.visit(client, `${START}?${new URLSearchParams({ to }).toString()}`);
      results.push(Reflect.get(await finish(path), "returnTo"));
    }

    expect(results).to.deep.equal(["/links?page=2", "/", "/", "/", "/"]);
  });

  it("starts from pages of this site alone", async () => {
    expect((await client.get(START, { headers: { "sec-fetch-site": "cross-site" } })).status).to.equal(403);
  });

  const refused: Readonly<Record<string, Lies>> = {
    "another issuer": { claims: { iss: "https://evil.example" } },
    "another audience": { claims: { aud: "another" } },
    "another nonce": { claims: { nonce: "x" } },
    "no nonce": { claims: { nonce: undefined } },
    "an expired ID token": { claims: { exp: 1_000_000_000 } },
    "no subject": { claims: { sub: undefined } },
    "a subject of 256 characters": { claims: { sub: "x".repeat(256) } },
    "no signature": { header: { alg: "none" } },
    "a signature by the public key": { header: { alg: "HS256" } },
    "an unknown key": { header: { alg: "ES256", kid: "../../etc/passwd" } },
    "no ID token": { tokens: { id_token: undefined } },
    "an access token that is no text": { tokens: { access_token: 7 } },
    "a refused code": { status: { "/token": 400 } },
    "another subject at the user endpoint": { claims: { email: undefined, sub: "another" } },
  };
  for (const [title, lies] of Object.entries(refused))
    it(`is refused with ${title}`, async () => {
      liar.lies = lies;

      expect(await signIn()).to.deep.equal({ kind: "refused" });
      expect((await client.get(account.show.url())).status).to.equal(401);
    });

  it("is refused with the issuer of another provider in the response", async () => {
    const path = await liar.visit(client, START);
    const second = await liar.visit(client, START);

    expect(await finish(`${path}&iss=https%3A%2F%2Fevil.example`)).to.deep.equal({ kind: "refused" });
    liar.lies = { discovery: { authorization_response_iss_parameter_supported: true } };
    expect(await finish(`${second}&iss=${encodeURIComponent(liar.url)}`)).to.include({ kind: "signed-in" });
  });

  it("is canceled by the person, and no text of the provider comes through", async () => {
    const state = async () => new URL(await liar.visit(client, START), app.url).searchParams.get("state") ?? "";
    const back = async (query: Record<string, string>) =>
      client.get(
        `${providers.callback.url("liar")}?${new URLSearchParams({ ...query, state: await state() }).toString()}`,
      );
    const hostile = "<script>canary4711text</script>\r\nx".repeat(50);

    const canceled = await back({ error: "access_denied", error_description: hostile });
    const failed = await back({ error: hostile, error_description: hostile });

    const later = await back({ error: "temporarily_unavailable" });

    expect(await later.json()).to.deep.equal({ kind: "unavailable" });
    expect(await canceled.json()).to.deep.equal({ kind: "canceled" });
    expect(await failed.json()).to.deep.equal({ kind: "refused" });
    expect(app.logs.lines().join("\n")).not.to.include("canary4711text");
  });

  it("succeeds directly after the provider has changed its keys", async () => {
    await signIn();
    await liar.rotateKey();

    expect(await signIn()).to.include({ kind: "signed-in", isNew: false });
  });

  for (const path of ["/token", "/jwks"])
    it(`is unavailable where ${path} fails or hangs, and is no sign-in`, async () => {
      for (const lies of [{ status: { [path]: 503 } }, { hangs: [path] }]) {
        liar.lies = lies;
        expect(await signIn(), JSON.stringify(lies)).to.deep.equal({ kind: "unavailable" });
      }
      expect((await client.get(account.show.url())).status).to.equal(401);
    });

  it("is 503 while the configuration is missing, hangs or is that of another issuer, and comes back", async () => {
    const url = "/.well-known/openid-configuration";
    for (const lies of [
      { status: { [url]: 404 } },
      { hangs: [url] },
      { discovery: { issuer: "https://evil.example" } },
    ]) {
      liar.lies = lies;
      clock.advance(MINUTE_MS);
      expect((await client.get(START)).status, JSON.stringify(lies)).to.equal(503);
      const { length } = liar.requests;
      expect((await client.get(START)).headers.get("retry-after")).to.equal("10");
      expect(liar.requests, "no request before the wait is over").to.have.lengthOf(length);
    }
    liar.lies = {};
    clock.advance(MINUTE_MS);
    expect((await client.get(START)).status).to.equal(303);
    // A provider that is down later on changes nothing.
    liar.lies = { status: { [url]: 500 } };
    clock.advance(120 * MINUTE_MS);
    expect((await client.get(START)).status).to.equal(303);
  });

  it("sends the secret of the client in the header alone", async () => {
    await signIn();

    expect(liar.forms.map((form) => form.toString()).join()).not.to.include(SECRETS.clientSecret);
    expect(liar.forms[0]?.get("code_verifier")).to.match(/^[\w-]{43}$/);
  });
});
