/** A provider whose documents, responses and claims are hostile or broken, over a real socket. */
import type { ServerResponse } from "node:http";
import { ProviderAccounts } from "@stagecraft/framework/auth";
import { FakeClock, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { account, AppUsers } from "../account-application.js";
import { type Lies, LiarProvider } from "./liar-provider.js";
import { providers, startProviders } from "./provider-application.js";

const START = providers.start.url("liar");
const DISCOVERY = "/.well-known/openid-configuration";
const HOUR_MS = 3_600_000;
const MEGABYTE = 2 ** 20;

describe("a hostile provider", function () {
  this.timeout(60_000);
  let liar: LiarProvider;
  let app: TestApp;
  let clock: FakeClock;
  let client: TestClient;

  beforeEach(async () => {
    liar = await LiarProvider.start();
    clock = new FakeClock();
    const options = { keepTokens: true, signOut: true };
    app = await startProviders({ clock, oauth: { providers: [liar.provider(options)], timeoutMs: 5_000 } });
    client = app.withCookies();
  });
  afterEach(async () => {
    await app.stop();
    await liar[Symbol.asyncDispose]();
  });

  const signIn = async (by = client) => (await liar.signIn(by, START)).json<{ kind: string; userId?: string }>();
  const isReady = async () => (await app.get("/up/ready")).status === 200;

  describe("with its configuration", () => {
    const unsafe: Readonly<Record<string, Record<string, unknown>>> = {
      "keys of another machine without encryption": { jwks_uri: "http://169.254.169.254/latest/meta-data" },
      "keys in a file": { jwks_uri: "file:///etc/passwd" },
      "no keys": { jwks_uri: undefined },
      "a token endpoint of another machine without encryption": { token_endpoint: "http://evil.example/token" },
      "no token endpoint": { token_endpoint: undefined },
      "a page to sign in that is a script": { authorization_endpoint: "javascript:alert(1)" },
      "a page to sign in that is a number": { authorization_endpoint: 7 },
      "a user endpoint without encryption": { userinfo_endpoint: "http://evil.example/me" },
      "a page to sign out that is a script": { end_session_endpoint: "javascript:alert(1)" },
    };
    for (const [title, discovery] of Object.entries(unsafe))
      it(`is not used with ${title}`, async () => {
        liar.lies = { discovery };

        expect((await client.get(START)).status).to.equal(503);
        expect(await isReady()).to.equal(false);
        liar.lies = {};
        clock.advance(HOUR_MS);
        expect((await client.get(START)).status).to.equal(303);
      });

    it("changes nothing while the document of an hour ago can be used", async () => {
      await signIn();
      const later: readonly Lies[] = [
        { raw: { [DISCOVERY]: (response) => response.setHeader("content-type", "text/html").end("<h1>Maintenance") } },
        { discovery: { issuer: "https://evil.example" } },
        { discovery: { jwks_uri: "http://evil.example/keys" } },
      ];
      for (const lies of later) {
        liar.lies = lies;
        clock.advance(2 * HOUR_MS);
        const before = liar.requests.length;

        expect(await isReady()).to.equal(true);
        expect(await signIn(app.withCookies())).to.include({ kind: "signed-in", userId: "user-1" });
        expect(liar.requests.slice(before)).to.include(DISCOVERY);
      }
    });
  });

  describe("with more bytes than there is room for", () => {
    /** Writes until the reader leaves. */
    const flood = (response: ServerResponse) => {
      response.setHeader("content-type", "application/json");
      const chunk = Buffer.alloc(65_536, " ");
      const write = (): void => {
        while (!response.destroyed) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once("drain", write);
        }
      };
      write();
    };
    let sent = 0;
    beforeEach(() => (sent = 0));

    it("has a configuration that is not read to its end", async () => {
      liar.lies = { raw: { [DISCOVERY]: flood } };

      expect((await client.get(START)).status).to.equal(503);
      expect(sent).to.be.below(50 * MEGABYTE);
    });

    for (const path of ["/token", "/jwks", "/userinfo"])
      it(`has a response of ${path} that is not read to its end`, async () => {
        liar.lies = { claims: { email: undefined }, raw: { [path]: flood } };

        expect(await signIn()).to.deep.equal({ kind: "unavailable" });
        expect(sent).to.be.within(1, 50 * MEGABYTE);
        expect(app.logs.lines().join("\n")).to.include("more than 262144 bytes");
      });
  });

  it("is refused with a page, a redirect or an error in the place of tokens", async () => {
    const target = `${liar.url}/stolen`;
    const responses: Readonly<Record<string, (response: ServerResponse) => void>> = {
      html: (response) => void response.setHeader("content-type", "text/html").end("<h1>Log in</h1>"),
      redirect: (response) => void response.writeHead(302, { location: target }).end(),
      temporary: (response) => void response.writeHead(307, { location: target }).end(),
      json: (response) => void response.setHeader("content-type", "application/json").end("{"),
      list: (response) => void response.setHeader("content-type", "application/json").end("[]"),
      empty: (response) => void response.writeHead(204).end(),
    };
    for (const [title, respond] of Object.entries(responses)) {
      liar.lies = { raw: { "/token": respond } };
      expect(await signIn(), title).to.deep.equal({ kind: "refused" });
    }
    expect(liar.requests).not.to.include("/stolen");
    expect((await client.get(account.show.url())).status).to.equal(401);
  });

  describe("with the claims of a person", () => {
    const refused: readonly unknown[] = ["", 7, null, "x".repeat(10_000), "a\nb", "é", ["ada-7"], { sub: "ada-7" }];
    for (const sub of refused)
      it(`starts no session as ${JSON.stringify(sub).slice(0, 20)}`, async () => {
        liar.lies = { claims: { sub } };

        expect(await signIn()).to.deep.equal({ kind: "refused" });
      });

    it("creates no account with an address that is none, or not said to be verified", async () => {
      const given = [
        { email: `${"x".repeat(10_000)}@shop.example` },
        { email: ["ada@shop.example"] },
        { email: "ada@shop.example\r\nBcc: all@shop.example" },
        { email: "ada@shop.example", email_verified: "true" },
        { email: "ada@shop.example", email_verified: 1 },
        { email: undefined },
      ];
      for (const each of given) {
        liar.person = { sub: "mallory", email_verified: true, ...each };
        expect(await signIn(app.withCookies()), JSON.stringify(each).slice(0, 60)).to.deep.equal({
          kind: "email-needed",
        });
      }
    });

    it("does not verify the address of the user endpoint by its ID token", async () => {
      liar.person = { sub: "mallory", email: "ada@shop.example" };
      liar.lies = { claims: { email: undefined, email_verified: true } };

      expect(await signIn()).to.deep.equal({ kind: "email-needed" });
    });

    it("has a name without control characters and changes of direction, of at most 200 characters", async () => {
      const names: Readonly<Record<string, string | undefined>> = {
        "Ada\u0000\u001b[31m\r\nLovelace": "Ada  [31m  Lovelace",
        "\u202eadA\u2069": "adA",
        ["🔑".repeat(300)]: "🔑".repeat(200),
        "\u0000": undefined,
        "\ud800": "\ufffd",
      };
      for (const name of Object.keys(names)) {
        const sub = `person-${app.resolve(AppUsers).created.length}`;
        liar.person = { sub, email: `${sub}@shop.example`, email_verified: true, name, picture: "javascript:alert(1)" };
        await signIn(app.withCookies());
      }

      const created = app.resolve(AppUsers).created.map(({ data }) => data);
      expect(created).to.deep.equal(Object.values(names).map((name) => ({ provider: "liar", name })));
    });
  });

  it("gives tokens that last for ever, or are too long to be kept, and the sign-in succeeds", async () => {
    const accounts = app.resolve(ProviderAccounts);
    liar.lies = { tokens: { expires_in: 1e300 } };
    expect(await signIn()).to.include({ kind: "signed-in" });
    const [{ id } = { id: "" }] = await accounts.listOfUser("user-1");
    const tenYears = clock.now() + 3650 * 86_400_000;
    expect((await accounts.findTokens(id))?.expiresAt).to.equal(tenYears);

    liar.lies = { tokens: { access_token: "x".repeat(100_000) } };

    expect(await signIn(app.withCookies())).to.include({ kind: "signed-in" });
    expect(await accounts.findTokens(id)).to.equal(undefined);
  });

  it("gives an ID token that is too long for the URL of a sign-out, and the sign-in succeeds", async () => {
    liar.lies = { claims: { groups: "x".repeat(150_000) } };

    expect(await signIn()).to.include({ kind: "signed-in" });
    expect(await (await client.post(providers.signOut.url())).json()).to.deep.equal({ url: null });
  });
});

describe("a provider with another clock", () => {
  for (const [seconds, kind] of [
    [-86_400, "refused"],
    [-50, "signed-in"],
    [50, "signed-in"],
    [86_400, "refused"],
  ] as const)
    it(`than this machine by ${seconds} seconds is ${kind === "refused" ? "refused" : "trusted"}`, async () => {
      await using liar = await LiarProvider.start();
      const clock = new FakeClock(Date.now() + seconds * 1000);
      await using app = await startProviders({ clock, oauth: { providers: [liar.provider()] } });
      const now = Math.floor(Date.now() / 1000);
      liar.lies = { claims: { iat: now, nbf: now, exp: now + 5 } };

      const response = await liar.signIn(app.withCookies(), START);

      expect((await response.json<{ kind: string }>()).kind).to.equal(kind);
    });
});

describe("a provider with max_age", () => {
  it("signs in a person who has signed in there within that time, and no other", async () => {
    await using liar = await LiarProvider.start();
    const strict = liar.provider({ parameters: { max_age: "300" } });
    const clock = new FakeClock(Date.now());
    await using app = await startProviders({ clock, oauth: { providers: [strict] } });
    const now = Math.floor(Date.now() / 1000);
    const kinds = [];
    for (const auth_time of [now - 200, now - 900, undefined]) {
      liar.lies = { claims: { auth_time } };
      kinds.push((await (await liar.signIn(app.withCookies(), START)).json<{ kind: string }>()).kind);
    }

    expect(kinds).to.deep.equal(["signed-in", "refused", "refused"]);
  });
});
