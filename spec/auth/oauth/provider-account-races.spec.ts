/** Accounts at providers between persons, tabs and providers that come and go, with the double of the providers. */
import { provide } from "@stagecraft/framework";
import { ProviderAccounts, SecondStep } from "@stagecraft/framework/auth";
import { FakeClock, ProviderDouble, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { type OAuthProvider, ProviderGrant, type ProviderTokenValues } from "@stagecraft/framework/oauth";
import { expect } from "chai";
import { addPerson, signIn, signInAs } from "../account-application.js";
import { AppDatabase } from "../auth-database.js";
import { acme, providers, startProviders } from "./provider-application.js";

const ADA = { subject: "7", email: "ada@shop.example" };
const START = providers.start.url("acme");
const LINK = providers.link.url("acme");

/** Gives a refresh token at the first sign-in alone. */
class SparingDouble extends ProviderDouble {
  readonly refreshTokens: string[] = [];
  private isFirst = true;

  override async exchange(...all: Parameters<ProviderDouble["exchange"]>): ReturnType<ProviderDouble["exchange"]> {
    const { profile, tokens } = await super.exchange(...all);
    const { refreshToken, ...others } = tokens;
    const given: ProviderTokenValues = this.isFirst ? { ...others, refreshToken } : others;
    this.isFirst = false;
    return new ProviderGrant(profile, given);
  }

  override refresh(_provider?: OAuthProvider, refreshToken = ""): Promise<ProviderTokenValues> {
    this.refreshTokens.push(refreshToken);
    return super.refresh();
  }
}

const list = async (client: TestClient) =>
  (await client.get(providers.list.url())).json<{ id: string; provider: string }[]>();

describe("accounts at providers", function () {
  this.timeout(60_000);
  let double: SparingDouble;
  let clock: FakeClock;
  let db: AppDatabase;
  let withSecondStep: Set<string>;
  let app: TestApp;

  beforeEach(async () => {
    double = new SparingDouble();
    clock = new FakeClock();
    db = AppDatabase.on();
    withSecondStep = new Set();
    const bindings = [
      provide(SecondStep).useValue({ isRequired: (userId) => Promise.resolve(withSecondStep.has(userId)) }),
    ];
    app = await startProviders({ clock, double, db, bindings });
  });
  afterEach(() => app.stop());

  const visit = async (client: TestClient, path: string, person: Parameters<ProviderDouble["signIn"]>[2]) =>
    (await double.signIn(client, path, person)).json<{ kind: string }>();

  it("belong to one of two persons who link the same one at the same time", async () => {
    await addPerson(app, "ada");
    await addPerson(app, "bob");
    const both = [await signInAs(app, "ada"), await signInAs(app, "bob")];

    const results = await Promise.all(both.map((each) => visit(each, LINK, ADA)));

    expect(results.map(({ kind }) => kind).toSorted()).to.deep.equal(["linked", "taken"]);
    const lists = await Promise.all(both.map(list));
    expect(lists.flat()).to.have.lengthOf(1);
  });

  it("stay where the other ones are at providers that the application no longer has", async () => {
    const ada = app.withCookies();
    await visit(ada, START, ADA);
    await visit(ada, providers.link.url("other"), { subject: "8" });
    const [first] = await list(ada);
    await using later = await startProviders({ clock, double, db, oauth: { providers: [acme] } });

    const removed = await (await later.actingAs("user-1")).delete(providers.unlink.url(first?.id ?? ""));

    expect(first?.provider).to.equal("acme");
    expect(await removed.json()).to.deep.equal({ kind: "last" });
  });

  it("have the refresh token of the first sign-in where a later one brings none", async () => {
    const ada = app.withCookies();
    await visit(ada, START, ADA);
    await visit(ada, START, ADA);
    clock.advance(3_600_000);
    await visit(app.withCookies(), START, ADA);
    clock.advance(3_600_000);
    await visit(ada, START, ADA);
    clock.advance(3_600_000);

    const token = await (await ada.get(providers.token.url("acme"))).json();

    expect(token).to.deep.equal({ kind: "token", accessToken: "access-2" });
    expect(double.refreshTokens).to.deep.equal(["refresh-1"]);
    expect(await app.resolve(ProviderAccounts).listOfUser("user-1")).to.have.lengthOf(1);
  });

  it("have an ID token that the sign-out of another person in the same browser does not show", async () => {
    const browser = app.withCookies();
    await visit(browser, START, ADA);
    await browser.post(providers.signOut.url());
    withSecondStep.add("user-1");
    await addPerson(app, "bob");
    const waiting = await visit(browser, START, ADA);
    await signIn(browser, "bob@shop.example");

    const signedOut = await browser.post(providers.signOut.url());

    expect(waiting).to.deep.equal({ kind: "second-step" });
    expect(await signedOut.json()).to.deep.equal({ url: null });
  });
});
