/** The presets at their documented URLs, which lead to a provider on this machine. */
import { ProviderAccounts } from "@stagecraft/framework/auth";
import { discord, github, microsoft, type OAuthProvider } from "@stagecraft/framework/oauth";
import { FakeClock, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { type Lies, LiarProvider } from "./liar-provider.js";
import { providers, startProviders } from "./provider-application.js";

const REGISTERED = { clientId: "shop", clientSecret: "secret" };
const DISCOVERY = "/.well-known/openid-configuration";
const ENTRA = "https://login.microsoftonline.com";

/** Responses of JSON by the last segment of their path. */
function respondWith(bodies: Readonly<Record<string, unknown>>): Lies {
  const raw: Record<string, NonNullable<Lies["raw"]>[string]> = {};
  for (const [path, body] of Object.entries(bodies))
    raw[path] = (response) => response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  return { raw };
}

describe("a preset", function () {
  this.timeout(60_000);
  const { fetch } = globalThis;
  let liar: LiarProvider;
  let app: TestApp | undefined;
  let asked: (readonly [url: string, accept: string | null])[];

  beforeEach(async () => {
    liar = await LiarProvider.start();
    asked = [];
    globalThis.fetch = (target, options) => {
      const url = new URL(target instanceof Request ? target.url : target);
      if (url.hostname === "127.0.0.1") return fetch(target, options);
      asked.push([url.href, new Headers(options?.headers).get("accept")]);
      const path = url.pathname.endsWith(DISCOVERY) ? DISCOVERY : `/${url.pathname.split("/").at(-1) ?? ""}`;
      return fetch(liar.url + path, options);
    };
  });
  afterEach(async () => {
    globalThis.fetch = fetch;
    await app?.stop();
    app = undefined;
    await liar[Symbol.asyncDispose]();
  });

  async function signIn(preset: OAuthProvider, query = ""): Promise<object> {
    const clock = new FakeClock(Date.now());
    app ??= await startProviders({ clock, oauth: { providers: [preset] } });
    const client = app.withCookies();
    const path = await liar.visit(client, providers.start.url(preset.name));
    return (await client.get(path + query)).json<object>();
  }

  it("of Microsoft for every directory takes the issuer of the directory of the person", async () => {
    const preset = microsoft({ tenant: "common", ...REGISTERED });
    const discovery = {
      issuer: `${ENTRA}/{tenantid}/v2.0`,
      authorization_endpoint: `${ENTRA}/common/oauth2/v2.0/authorize`,
      token_endpoint: `${ENTRA}/common/oauth2/v2.0/token`,
      jwks_uri: `${ENTRA}/common/discovery/v2.0/jwks`,
      userinfo_endpoint: "https://graph.microsoft.com/oidc/userinfo",
      end_session_endpoint: `${ENTRA}/common/oauth2/v2.0/logout`,
    };
    const issuer = `${ENTRA}/tenant-a/v2.0`;
    liar.lies = { discovery, claims: { iss: issuer, tid: "tenant-a", xms_edov: true } };
    expect(await signIn(preset)).to.include({ kind: "signed-in", userId: "user-1" });
    liar.lies = { discovery, claims: { iss: issuer, tid: "tenant-b", xms_edov: true } };

    expect(await signIn(preset)).to.deep.equal({ kind: "refused" });
    const [linked] = (await app?.resolve(ProviderAccounts).listOfUser("user-1")) ?? [];
    expect(linked?.issuer).to.equal(issuer);
    expect(liar.forms[0]?.get("client_secret")).to.equal("secret");
  });

  it("of GitHub signs in with the primary address, and refuses a code that GitHub refuses with 200", async () => {
    const preset = github(REGISTERED);
    const emails = [
      { email: "old@shop.example", primary: false, verified: true },
      { email: "ada@shop.example", primary: true, verified: true },
    ];
    const tokens = { access_token: "gho_x", scope: "read:user,user:email", token_type: "bearer" };
    liar.lies = respondWith({
      "/access_token": tokens,
      "/user": { id: 7, login: "ada", name: null },
      "/emails": emails,
    });

    expect(await signIn(preset, "&iss=https%3A%2F%2Fgithub.com%2Flogin%2Foauth")).to.include({ kind: "signed-in" });
    expect(asked).to.deep.equal([
      ["https://github.com/login/oauth/access_token", "application/json"],
      ["https://api.github.com/user", "application/json"],
      ["https://api.github.com/user/emails", "application/json"],
    ]);
    liar.lies = respondWith({ "/access_token": { error: "bad_verification_code", error_description: "x" } });
    expect(await signIn(preset)).to.deep.equal({ kind: "refused" });
  });

  it("of Discord signs in with a verified address", async () => {
    const tokens = {
      access_token: "x",
      token_type: "Bearer",
      expires_in: 604_800,
      refresh_token: "y",
      scope: "identify",
    };
    const person = { id: "80351110224678912", username: "ada", email: "ada@shop.example", verified: true };
    liar.lies = respondWith({ "/token": tokens, "/@me": person });

    expect(await signIn(discord(REGISTERED))).to.include({ kind: "signed-in" });
    liar.lies = respondWith({ "/token": tokens, "/@me": { ...person, id: "9", verified: false } });
    expect(await signIn(discord(REGISTERED))).to.deep.equal({ kind: "email-needed" });
  });
});
