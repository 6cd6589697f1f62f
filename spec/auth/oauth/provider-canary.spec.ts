/** Secrets of a sign-in at a provider, which then stand in no log, span, metric, error and printed class. And the profiles of the presets. */
import { inspect } from "node:util";
import {
  discord,
  github,
  google,
  microsoft,
  oauth,
  OAuthSettings,
  ProviderClients,
  ProviderLinks,
  ProviderSignIn,
  ProviderTokens,
  type ProfileSource,
} from "@stagecraft/framework/oauth";
import { expectNoLeak, FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { LiarProvider, SECRETS } from "./liar-provider.js";
import { providers, startProviders } from "./provider-application.js";

const START = providers.start.url("liar");
const REGISTERED = { clientId: "shop", clientSecret: SECRETS.clientSecret };

describe("the secrets of a sign-in at a provider", function () {
  this.timeout(60_000);

  it("stand in no log, span, metric, error and printed class", async () => {
    await using liar = await LiarProvider.start();
    const clock = new FakeClock();
    const liarAsProvider = liar.provider({ keepTokens: true, signOut: true });
    await using app = await startProviders({ clock, oauth: { providers: [liarAsProvider] } });
    const client = app.withCookies();
    const started = (await client.get(START)).headers.get("location") ?? "";
    await liar.signIn(client, START);
    clock.advance(4_000_000);
    await client.get(providers.token.url("liar"));
    liar.lies = { status: { "/token": 400 } };
    clock.advance(4_000_000);
    await client.get(providers.token.url("liar"));
    for (const lies of [{ claims: { nonce: "x" } }, { tokens: { access_token: 7 } }, { status: { "/token": 400 } }]) {
      liar.lies = lies;
      await liar.signIn(client, START);
    }
    await client.post(providers.signOut.url());

    const query = new URL(started).searchParams;
    const verifiers = liar.forms.map((form) => form.get("code_verifier") ?? "").filter(Boolean);
    const hidden = [query.get("state") ?? "", query.get("nonce") ?? "", ...verifiers, ...liar.idTokens];
    const classes = [OAuthSettings, ProviderSignIn, ProviderLinks, ProviderTokens, ProviderClients];
    const printed = classes.map((each) =>
      inspect(app.resolve(each as typeof ProviderSignIn), { depth: 12, showHidden: true }),
    );
    const text = [...app.logs.lines(), ...printed].join("\n");
    expect(liar.idTokens).to.have.lengthOf(3);
    expect(text).to.include("sign-in refused");
    for (const secret of [...hidden, ...Object.values(SECRETS)]) expect(text.includes(secret), secret).to.equal(false);
    for (const secret of Object.values(SECRETS)) await expectNoLeak(app, secret);
  });
});

const sourceOf = (values: Readonly<Record<string, unknown>>): ProfileSource => ({
  claims: values,
  fetchJson: (url) => Promise.resolve(values[new URL(url).pathname]),
});

describe("the providers with a preset", () => {
  it("read the profile of GitHub and Discord at their user endpoints", async () => {
    const emails = [{ email: "b@x.example" }, { email: "a@x.example", primary: true, verified: true }];
    const found = await github(REGISTERED).readProfile(
      sourceOf({ "/user": { id: 7, login: "ada" }, "/user/emails": emails }),
    );
    const hidden = await github(REGISTERED).readProfile(sourceOf({ "/user": { id: "7" } }));
    const user = { id: "9", email: "a@x.example", verified: false, username: "ada" };
    const other = await discord(REGISTERED).readProfile(sourceOf({ "/api/users/@me": user }));

    expect(found).to.deep.equal({ subject: "7", email: "a@x.example", isEmailVerified: true, name: "ada" });
    expect(hidden).to.include({ subject: undefined, email: undefined });
    expect(other).to.deep.equal({ subject: "9", email: "a@x.example", isEmailVerified: false, name: "ada" });
  });

  it("take an address of Microsoft as verified only where its domain belongs to the directory", async () => {
    const { readProfile } = microsoft({ tenant: "common", ...REGISTERED });
    const claims = { email: "ceo@shop.example", email_verified: true };

    expect(await readProfile(sourceOf(claims))).to.include({ isEmailVerified: false });
    expect(await readProfile(sourceOf({ ...claims, xms_edov: "1" }))).to.include({ isEmailVerified: true });
    expect(() => microsoft({ tenant: "a/b", ...REGISTERED })).to.throw("tenant");
  });

  it("ask Google for a refresh token only where tokens are stored", () => {
    expect(google(REGISTERED).parameters).to.deep.equal({});
    expect(google({ ...REGISTERED, keepTokens: true }).parameters).to.include({ access_type: "offline" });
    expect(inspect(google(REGISTERED), { showHidden: true })).not.to.include(SECRETS.clientSecret);
    expect(() => oauth({ providers: [google(REGISTERED)], callback: providers.callback })).not.to.throw();
  });
});
