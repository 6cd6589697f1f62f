/** Linked accounts and their tokens, with the double of the providers, as an application tests them. */
import { Identities, ProviderAccounts, SignedInSession } from "@stagecraft/framework/auth";
import { oauth, type OAuthOptions, provider as createProvider, ProviderTokens } from "@stagecraft/framework/oauth";
import { FakeClock, ProviderDouble, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { until } from "../../support/until.js";
import { account, addPerson } from "../account-application.js";
import { AppDatabase } from "../auth-database.js";
import { providers, startProviders } from "./provider-application.js";

const ADA = { subject: "7", email: "ada@shop.example" };
const START = providers.start.url("acme");
const LINK = providers.link.url("acme");

interface Result {
  readonly kind: string;
}

const list = async (client: TestClient) =>
  (await client.get(providers.list.url())).json<{ id: string; provider: string; email: string }[]>();
const unlink = async (client: TestClient, id: string) => client.delete(providers.unlink.url(id));
const token = async (client: TestClient, name = "acme") =>
  (await client.get(providers.token.url(name))).json<Result & { accessToken?: string }>();

describe("the accounts of a person at providers", () => {
  let double: ProviderDouble;
  let clock: FakeClock;
  let app: TestApp;

  beforeEach(async () => {
    double = new ProviderDouble();
    clock = new FakeClock();
    app = await startProviders({ clock, double });
  });
  afterEach(() => app.stop());

  const visit = async (client: TestClient, path: string, person: Parameters<ProviderDouble["signIn"]>[2]) =>
    (await double.signIn(client, path, person)).json<Result>();

  it("are linked from the session that has started it, whatever their address, and then sign in", async () => {
    await addPerson(app, "ada");
    const ada = await app.actingAs("ada");

    expect(await visit(ada, LINK, { subject: "7", email: "other@x.example", isEmailVerified: false })).to.deep.equal({
      kind: "linked",
      returnTo: "/providers/accounts",
    });
    expect((await list(ada)).map(({ provider, email }) => [provider, email])).to.deep.equal([
      ["acme", "other@x.example"],
    ]);
    expect(await visit(app.withCookies(), START, { subject: "7" })).to.include({ kind: "signed-in", userId: "ada" });
    expect(await visit(ada, LINK, ADA)).to.include({ kind: "linked" });
  });

  it("end the other sessions of the person when one is linked or removed", async () => {
    await addPerson(app, "ada");
    const [ada, before] = [await app.actingAs("ada"), await app.actingAs("ada")];
    await visit(ada, LINK, ADA);
    const between = await app.actingAs("ada");
    const [linked] = await list(ada);

    expect((await before.get(account.show.url())).status).to.equal(401);
    expect(await (await unlink(ada, linked?.id ?? "")).json()).to.deep.equal({ kind: "unlinked" });
    expect((await between.get(account.show.url())).status).to.equal(401);
    expect(await list(ada)).to.deep.equal([]);
  });

  it("cannot be linked twice, by another person, without a sign-in, or without a recent confirmation", async () => {
    await addPerson(app, "ada");
    await addPerson(app, "bob");
    const [ada, bob] = [await app.actingAs("ada"), await app.actingAs("bob")];
    await visit(ada, LINK, ADA);

    expect(await visit(bob, LINK, ADA)).to.deep.equal({ kind: "taken" });
    expect((await app.withCookies().get(LINK)).status).to.equal(401);
    clock.advance(16 * 60_000);
    expect((await bob.get(LINK)).status).to.equal(403);
  });

  it("are not linked to a person who has signed in meanwhile in the same browser", async () => {
    await addPerson(app, "ada");
    const browser = app.withCookies();
    await visit(browser, START, { subject: "mallory", email: "mallory@x.example" });
    const location = (await browser.get(LINK)).headers.get("location") ?? "";
    await visit(browser, START, { subject: "bob", email: "bob@x.example" });

    const state = new URL(location).searchParams.get("state") ?? "";
    const late = await browser.get(`${providers.callback.url("acme")}?code=x&state=${state}`);

    expect(await late.json()).to.deep.equal({ kind: "refused" });
  });

  it("stay while they are the last way to sign in, also of two removals at the same time", async () => {
    const ada = app.withCookies();
    await visit(ada, START, ADA);
    const [only] = await list(ada);
    expect(await (await unlink(ada, only?.id ?? "")).json()).to.deep.equal({ kind: "last" });
    expect(await (await unlink(ada, "nothing")).json()).to.deep.equal({ kind: "missing" });
    await visit(ada, providers.link.url("other"), { subject: "8" });
    const both = await list(ada);

    const removals = await Promise.all(both.map(({ id }) => unlink(ada, id)));

    expect(both).to.have.lengthOf(2);
    expect(removals.filter(({ status }) => status !== 200).length).to.be.at.least(1);
    expect(await app.resolve(ProviderAccounts).listOfUser("user-1")).to.have.lengthOf(1);
  });

  it("follow their issuer and subject alone: one subject at two providers is two persons", async () => {
    const first = await visit(app.withCookies(), START, ADA);
    const second = await visit(app.withCookies(), providers.start.url("other"), { ...ADA, email: "b@x.example" });

    expect([first, second].map((each) => Reflect.get(each, "userId"))).to.deep.equal(["user-1", "user-2"]);
  });

  it("of a user whom the application has deleted sign up again", async () => {
    await visit(app.withCookies(), START, ADA);
    await app.resolve(Identities).delete("user-1");

    expect(await visit(app.withCookies(), START, ADA)).to.include({ kind: "signed-in", userId: "user-2", isNew: true });
  });

  it("let a person cancel", async () => {
    expect(await visit(app.withCookies(), START, { error: "access_denied" })).to.deep.equal({ kind: "canceled" });
  });

  it("end their sign-in at the provider with the sign-out, if it responds", async () => {
    const ada = app.withCookies();
    await visit(ada, START, ADA);
    const signOut = async () => (await ada.post(providers.signOut.url())).json();

    expect(await signOut()).to.deep.equal({ url: "https://acme.test/sign-out" });
    expect((await ada.get(account.show.url())).status).to.equal(401);
    expect(await signOut()).to.deep.equal({ url: null });
    await visit(ada, START, ADA);
    double.isDown = true;
    expect(await signOut()).to.deep.equal({ url: null });
    expect((await ada.get(account.show.url())).status).to.equal(401);
  });

  it("are not ready while a provider does not respond", async () => {
    double.isDown = true;
    const ready = await app.get("/up/ready");

    expect([ready.status, (await app.get("/up/live")).status]).to.deep.equal([503, 200]);
  });

  describe("with tokens that are kept", () => {
    it("give an access token, refreshed once for many callers when it expires", async () => {
      const ada = app.withCookies();
      await visit(ada, START, ADA);
      expect(await token(ada)).to.deep.equal({ kind: "token", accessToken: "access-1" });
      clock.advance(3_550_000);
      await visit(ada, START, ADA);
      clock.advance(3_550_000);

      const tokens = await Promise.all(Array.from({ length: 10 }, () => token(ada)));

      expect(new Set(tokens.map(({ accessToken }) => accessToken))).to.deep.equal(new Set(["access-2"]));
      expect(double.refreshes).to.equal(1);
      expect(await token(ada, "other")).to.deep.equal({ kind: "missing" });
    });

    it("stay while the provider is down", async () => {
      const ada = app.withCookies();
      await visit(ada, START, ADA);
      const userId = "user-1";
      clock.advance(3_600_000);
      double.isDown = true;
      const tokens = app.resolve(ProviderTokens);

      expect(await tokens.getAccessToken(userId, "acme")).to.deep.equal({ kind: "unavailable" });
      double.isDown = false;
      expect(await tokens.getAccessToken(userId, "acme")).to.deep.equal({ kind: "token", accessToken: "access-2" });
    });

    it("are encrypted in their row, each for its account", async () => {
      await visit(app.withCookies(), START, ADA);
      await visit(app.withCookies(), START, { subject: "8", email: "b@x.example" });
      const accounts = app.resolve(ProviderAccounts);
      const [ada, bob] = await Promise.all(["user-1", "user-2"].map((each) => accounts.listOfUser(each)));
      const stored = await accounts.findTokens(ada?.[0]?.id ?? "");
      await accounts.setTokens(bob?.[0]?.id ?? "", stored);

      expect(stored?.tokens).to.match(/^[\w-]+$/);
      expect(stored?.tokens).not.to.include("access");
      expect(await app.resolve(ProviderTokens).getAccessToken("user-2", "acme")).to.deep.equal({ kind: "missing" });
    });
  });
});

describe("several processes with one database", () => {
  it("refresh a token once", async () => {
    const double = new ProviderDouble();
    const db = AppDatabase.on();
    const clock = new FakeClock();
    await using app = await startProviders({ double, db, clock });
    await double.signIn(app.withCookies(), START, ADA);
    const accounts = app.resolve(ProviderAccounts);
    const [{ id } = { id: "" }] = await accounts.listOfUser("user-1");
    const stored = await accounts.findTokens(id);
    await accounts.setTokens(id, stored && { ...stored, expiresAt: 1 });
    await using other = await startProviders({ double, db, clock });

    let results: readonly object[] = [];
    void Promise.all([app, other].map((each) => each.resolve(ProviderTokens).getAccessToken("user-1", "acme"))).then(
      (both) => void (results = both),
    );
    // The process that waits looks again ten times in a second.
    await until(async () => {
      await clock.advanceAsync(100);
      return results.length > 0;
    });

    expect(results).to.deep.equal([
      { kind: "token", accessToken: "access-2" },
      { kind: "token", accessToken: "access-2" },
    ]);
    expect(double.refreshes).to.equal(1);
  });
});

describe("the options of sign-in at providers", () => {
  const given = { name: "acme", issuer: "https://acme.test", clientId: "shop" };
  const wrong: Readonly<Record<string, object>> = {
    "a name with a slash": { name: "a/b" },
    "an issuer without encryption": { issuer: "http://acme.test" },
    "an issuer with a query": { issuer: "https://acme.test?x" },
    "the document of an issuer": { issuer: "https://acme.test/.well-known/openid-configuration" },
    "a max_age that is no number": { parameters: { max_age: "1h" } },
    "no scope openid": { scopes: ["email"] },
    "a scope with a space": { scopes: ["openid email"] },
    "a client authentication without a secret": { clientAuth: "client_secret_post" },
    "an unknown client authentication": { clientAuth: "private_key_jwt" },
    "an empty secret": { clientSecret: "" },
    "a parameter of the flow": { parameters: { state: "x" } },
    "endpoints without a profile": {
      endpoints: { authorization: "https://acme.test/a", token: "https://acme.test/t" },
    },
  };
  for (const [title, options] of Object.entries(wrong))
    it(`refuse ${title}`, () => {
      expect(() => createProvider({ ...given, ...options }))
        .to.throw()
        .with.property("code", "E_OAUTH_PROVIDER");
    });

  const acme = createProvider(given);
  const { callback } = providers;
  const others: Readonly<Record<string, object>> = {
    "no providers": { providers: [] },
    "values that are no providers": { providers: [given] },
    "two providers of one name": { providers: [acme, acme] },
    "a callback of POST": { callback: { method: "POST", url: () => "/" } },
    "a callback of one URL for all providers": { callback: { method: "GET", url: () => "/" } },
    "a timeout of no time": { timeoutMs: 0 },
  };
  for (const [title, options] of Object.entries(others))
    it(`refuse ${title}`, () => {
      expect(() => oauth({ providers: [acme], callback, ...options }))
        .to.throw()
        .with.property("code", "E_OAUTH_OPTION");
    });

  it("have no other names", () => {
    const misspelt: object = { providers: [acme], callback, linkByMail: true };
    expect(() => oauth(misspelt as OAuthOptions))
      .to.throw()
      .with.property("code", "E_OPTION");
  });

  it("may link the identity of an address that both sides have verified, and may allow no sign-up", async () => {
    const double = new ProviderDouble();
    await using app = await startProviders({ double, oauth: { linkByEmail: true, signUp: false } });
    await addPerson(app, "ada");
    await addPerson(app, "bob", { isVerified: false });
    const visit = async (subject: string, email: string, isEmailVerified: boolean) =>
      (await double.signIn(app.withCookies(), START, { subject, email, isEmailVerified })).json<Result>();

    expect(await visit("1", "ada@shop.example", false)).to.deep.equal({ kind: "email-needed" });
    expect(await visit("2", "bob@shop.example", true)).to.deep.equal({ kind: "link-needed" });
    expect(await visit("3", "new@shop.example", true)).to.deep.equal({ kind: "no-account" });
    expect(await visit("1", "ada@shop.example", true)).to.include({ kind: "signed-in", userId: "ada", isNew: false });
    expect(app.resolve(SignedInSession)).to.be.instanceOf(SignedInSession);
  });
});
