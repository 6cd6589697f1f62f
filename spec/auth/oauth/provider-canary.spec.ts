/** Secrets of the flows at a provider, which then stand nowhere else. And the profiles of the presets. */
import { inspect } from "node:util";
import * as entry from "@stagecraft/framework/oauth";
import {
  discord,
  github,
  google,
  microsoft,
  oauth,
  ProviderClients,
  type ProfileSource,
} from "@stagecraft/framework/oauth";
import { expectNoLeak, type TestClient, type TestResponse } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { CanaryApplication } from "../canary/canary-application.js";
import { type Lies, LiarProvider, SECRETS } from "./liar-provider.js";
import { providers, ProvidersController } from "./provider-application.js";

const START = providers.start.url("liar");
const LINK = providers.link.url("liar");
const TOKEN = providers.token.url("liar");
const REGISTERED = { clientId: "shop", clientSecret: SECRETS.clientSecret };
const HEADS = { except: ["the heads of responses"] };

/** What a careless provider does: it repeats what it was sent. */
const ECHO: Lies = {
  raw: {
    "/token": (response, form) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: "invalid_request", error_description: form.toString() }));
    },
  },
};

class ProviderFlows {
  private readonly client: TestClient;

  constructor(
    private readonly canary: CanaryApplication,
    private readonly liar: LiarProvider,
  ) {
    this.client = canary.app.withCookies();
    for (const [name, secret] of Object.entries(SECRETS)) canary.search.addSecret(name, secret);
  }

  async run(): Promise<void> {
    await this.expect(await this.signIn(), "signed-in");
    await this.expect(await this.get(TOKEN), "token");
    await this.refresh();
    await this.refuse();
    await this.expect(await this.signIn(), "signed-in");
    await this.link();
    await this.note(await this.client.post(providers.signOut.url()));
    for (const form of this.liar.forms) this.addForm(form);
    for (const token of this.liar.idTokens) this.canary.search.addSecret("an ID token", token);
  }

  private async refresh(): Promise<void> {
    for (const lies of [{}, { status: { "/token": 503 } }, ECHO, { status: { "/token": 400 } }]) {
      this.canary.clock.advance(4_000_000);
      this.liar.lies = lies;
      await this.get(TOKEN);
    }
  }

  private async refuse(): Promise<void> {
    const wrong: readonly Lies[] = [
      ECHO,
      { claims: { nonce: "x" } },
      { claims: { iss: "https://evil.example" } },
      { tokens: { access_token: 7 } },
      { header: { alg: "none" } },
      { claims: { email: undefined }, status: { "/userinfo": 400 } },
      { status: { "/jwks": 500 } },
    ];
    for (const lies of wrong) {
      this.liar.lies = lies;
      await this.signIn();
    }
    this.liar.lies = {};
    const path = await this.liar.visit(this, START);
    await this.get(path.replace(/code=[^&]+/, "error=access_denied"));
    await this.get(path);
    await this.get(`${path}&x=${"x".repeat(9000)}`);
    await this.get(providers.start.url("down"));
  }

  private async link(): Promise<void> {
    this.liar.person = { sub: "another", email: "another@shop.example", email_verified: true };
    await this.expect(await this.signIn(LINK), "linked");
    const list = await (await this.get(providers.list.url())).json<{ id: string }[]>();
    const removed = await this.client.delete(providers.unlink.url(list[1]?.id ?? ""));
    await this.note(removed);
    await this.expect(removed, "unlinked");
  }

  async get(path: string): Promise<TestResponse> {
    const response = await this.client.get(path);
    await this.note(response);
    return response;
  }

  private async signIn(path = START): Promise<TestResponse> {
    return this.get(await this.liar.visit(this, path));
  }

  private addForm(form: URLSearchParams): void {
    const verifier = form.get("code_verifier");
    if (verifier !== null) this.canary.search.addSecret("a code verifier", verifier);
  }

  private async note(response: Response): Promise<void> {
    await this.canary.note(response);
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([\w-]+)=([^;]*)/.exec(line) ?? [];
      if (value !== "") this.canary.search.addSecret(`the cookie ${name.slice(0, 16)}`, value);
    }
    const { searchParams } = new URL(response.headers.get("location") ?? "/", this.canary.app.url);
    // The browser carries them to the provider.
    for (const name of ["state", "nonce"] as const)
      if (searchParams.has(name)) this.canary.search.addSecret(`a ${name}`, searchParams.get(name) ?? "", HEADS);
  }

  private async expect(response: TestResponse, kind: string): Promise<void> {
    const body = await response.clone().text();
    if (!body.includes(`"kind":"${kind}"`)) throw new Error(`not ${kind}: ${response.status} ${body}`);
  }
}

describe("the flows of a sign-in at a provider", function () {
  this.timeout(120_000);

  it("show no secret in a log, span, metric, row, mail, event, error, printed class, report and response", async () => {
    await using liar = await LiarProvider.start();
    const liarAsProvider = liar.provider({ keepTokens: true, signOut: true });
    const down = liar.provider({ name: "down", issuer: "http://127.0.0.1:1" });
    const options = { callback: providers.callback, signedOut: providers.page, timeoutMs: 2_000 };
    const bindings = oauth({ providers: [liarAsProvider, down], ...options });
    await using canary = await CanaryApplication.start(undefined, { bindings, controllers: [ProvidersController] });
    const classes = Object.values(entry).filter(
      (each) => typeof each === "function" && each.name.startsWith("Provider"),
    );
    const printed = [...classes, ProviderClients, entry.OAuthSettings, ProvidersController].flatMap((each) => {
      try {
        return [[each.name, canary.app.resolve(each as typeof ProvidersController)] as const];
      } catch {
        return [];
      }
    });
    canary.printed.push(...printed, ["liar", liarAsProvider]);

    await new ProviderFlows(canary, liar).run();

    expect(await canary.find()).to.deep.equal([]);
    const names = new Set(canary.search.names());
    expect([...names]).to.include.members([
      "a state",
      "a nonce",
      "a code verifier",
      "an ID token",
      "the cookie framework-oauth-",
    ]);
    expect(printed).to.have.lengthOf.above(8);
    expect(canary.app.logs.lines().join("\n")).to.include("sign-in refused").and.include("refresh of a token failed");
    await expectNoLeak(canary.app, SECRETS.accessToken);
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
