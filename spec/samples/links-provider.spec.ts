/** The sign-in of `samples/links` at a provider, as an attacker tries it: with callbacks of others, old ones and forged ones. And its settings. */
import { expectProblem, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { settingsFrom } from "../../samples/links/settings.js";
import { TestProvider } from "../../samples/links/test-provider.js";
import { judgeResponses } from "../support/judged-responses.js";
import { runProgram } from "../support/program.js";
import { describeLinksWithProvider } from "../support/sample-documents.js";
import { approve, startLinksWith } from "../support/sample-provider.js";
import { startupErrorOf } from "../support/startup-error-of.js";

const START = "/account/provider/company";
const LINK = "/account/link/company";
const CALLBACK = "/account/callback/company";
const SIGN_IN = "/account/sign-in";
const LINKED = "/account/linked";
const TOO_LATE = "That took too long, or was done already. Start again.";

/** Goes to the provider, signs in there, and returns the path of the callback without opening it. */
const startAt = async (client: TestClient, path: string, name: string) =>
  approve((await client.get(path)).headers.get("location") ?? "", name);

const signIn = async (client: TestClient, name: string) => client.get(await startAt(client, START, name));

/** As a browser shows it. */
const show = async (client: TestClient, path: string) =>
  (await client.get(path, { headers: { accept: "text/html" } })).text();

const isSignedIn = async (client: TestClient) => (await client.get("/account")).status === 200;

describe("the sign-in of samples/links at a provider", function () {
  this.timeout(120_000);
  judgeResponses(describeLinksWithProvider);
  let provider: TestProvider;
  let app: TestApp;

  before(async () => void (provider = await TestProvider.start()));
  after(() => provider?.[Symbol.asyncDispose]());
  beforeEach(async () => void (app = await startLinksWith(provider)));
  afterEach(() => app?.stop());

  it("does not happen in a browser that has not started it", async () => {
    const [eve, ada] = [app.withCsrf(), app.withCsrf()];
    const callback = await startAt(eve, START, "eve");

    const response = await ada.get(callback);

    expect(response.headers.get("location")).to.equal(SIGN_IN);
    expect(await show(ada, SIGN_IN)).to.include(TOO_LATE);
    expect(await isSignedIn(ada)).to.equal(false);
  });

  it("happens once: the callback of the history is no second sign-in", async () => {
    const ada = app.withCsrf();
    const callback = await startAt(ada, START, "ada");
    expect((await ada.get(callback)).headers.get("location")).to.equal("/");
    await ada.post("/account/sign-out");

    expect((await ada.get(callback)).headers.get("location")).to.equal(SIGN_IN);
    expect(await isSignedIn(ada)).to.equal(false);
  });

  it("refuses a code that belongs to another attempt, also one of a link", async () => {
    const [eve, ada] = [app.withCsrf(), app.withCsrf()];
    await signIn(ada, "ada");
    const [ofEve, ofAda] = [await startAt(eve, START, "eve"), await startAt(ada, LINK, "ada-2")];
    const [code, mixed] = [readQuery(ofEve).get("code") ?? "", readQuery(ofAda)];
    mixed.set("code", code);

    const response = await ada.get(`${CALLBACK}?${mixed.toString()}`);

    expect(response.headers.get("location")).to.equal(LINKED);
    const page = await show(ada, LINKED);
    expect(page).to.include("Test Provider has refused the sign-in.").and.include("ada@example.org");
    expect(page).not.to.include("eve@example.org");
  });

  for (const forged of [
    "",
    "?code=1",
    `?code=1&state=${"A".repeat(43)}`,
    "?error=access_denied",
    `?state=${"9".repeat(9000)}`,
  ])
    it(`refuses the callback ${forged.slice(0, 30)}`, async () => {
      const response = await app.withCsrf().get(CALLBACK + forged);

      expect(response.status).to.equal(302);
      expect(response.headers.get("location")).to.equal(SIGN_IN);
    });

  it("links nothing in the session of another person, who is at the browser by then", async () => {
    const ada = app.withCsrf();
    await signIn(ada, "ada");
    const callback = await startAt(ada, LINK, "ada-at-work");
    await ada.post("/account/sign-out");
    await signIn(ada, "bob");

    expect((await ada.get(callback)).headers.get("location")).to.equal(LINKED);

    const page = await show(ada, LINKED);
    expect(page).to.include("bob@example.org").and.include(TOO_LATE);
    expect(page).not.to.include("ada-at-work");
  });

  it("unlinks no account of another person, and not the only way to sign in", async () => {
    const [ada, bob] = [app.withCsrf(), app.withCsrf()];
    await signIn(ada, "ada");
    await signIn(bob, "bob");
    const id = /linked\/([\da-f]{64})/.exec(await show(ada, LINKED))?.[1] ?? "none";

    await bob.post(`/account/linked/${id}`);
    expect(await show(bob, LINKED)).to.include("That account was not linked any more.");
    await ada.post(`/account/linked/${id}`);

    const page = await show(ada, LINKED);
    expect(page).to.include("This account is your only way to sign in.").and.include(`linked/${id}`);
  });

  it("leads to a page of this site, whatever the query says", async () => {
    const query = new URLSearchParams({
      to: "https://evil.example",
      returnTo: "//evil.example",
      return_to: "/\\evil.example",
    });
    const [ada, bob] = [app.withCsrf(), app.withCsrf()];
    const callback = await startAt(ada, `${START}?${query.toString()}`, "ada");
    await bob.get(`/account/tokens?${query.toString()}`, { headers: { accept: "text/html" } });

    const led = [await ada.get(`${callback}&${query.toString()}`), await signIn(bob, "bob")];

    expect(led.map(({ headers }) => headers.get("location"))).to.deep.equal([
      "/",
      `/account/tokens?${query.toString()}`,
    ]);
  });

  it("starts neither a sign-in nor a link for a page of another site, nor at an unknown provider", async () => {
    const ada = app.withCsrf();
    await signIn(ada, "ada");
    const headers = { "sec-fetch-site": "cross-site" };

    for (const path of [START, LINK])
      await expectProblem(await ada.get(path, { headers }), { status: 403, slug: "cross-site" });
    await expectProblem(await ada.get("/account/provider/google"), { status: 404, slug: "not-found" });
    await expectProblem(await ada.get("/account/callback/google"), { status: 404, slug: "not-found" });
    expect((await app.withCsrf().get(LINK)).status).to.equal(401);
  });

  it("leaves no code and no state in the log", async () => {
    const ada = app.withCsrf();
    const callback = await startAt(ada, START, "ada");
    await ada.get(callback);
    await ada.get(callback);

    const log = app.logs.lines().join("\n");
    expect(log).to.include(CALLBACK);
    for (const name of ["code", "state"]) expect(log).not.to.include(readQuery(callback).get(name));
  });

  it("needs the id of the application at the provider, and takes the host as name of the provider", () => {
    const issuer = { OAUTH_ISSUER: "https://login.company.example" };

    const fault = startupErrorOf(() => settingsFrom(issuer));

    expect(fault.diagnostics.map(({ where }) => where)).to.deep.equal(["OAUTH_CLIENT_ID"]);
    expect(settingsFrom({ ...issuer, OAUTH_CLIENT_ID: "links" }).provider).to.include({
      name: "login.company.example",
    });
  });

  for (const [title, environment, isLoaded] of [
    ["loads none of its code without an issuer", {}, false],
    ["loads its code with an issuer", { OAUTH_ISSUER: "https://a.example", OAUTH_CLIENT_ID: "links" }, true],
  ] as const)
    it(title, async () => {
      const { stdout, stderr } = await runProgram(LISTED, { ...environment, DATABASE_FILE: ":memory:" });

      expect(stderr).to.equal("");
      expect(stdout).to.include("samples/links/links.module.js");
      expect(/accounts\/provider\/provider\.|lib\/auth\/oauth\/|openid-client/.test(stdout)).to.equal(isLoaded);
    });
});

function readQuery(path: string): URLSearchParams {
  return new URL(path, "http://none").searchParams;
}

/** Prints the files that the sample loads. */
const LISTED = `
  import { Session } from "node:inspector";
  const session = new Session();
  session.connect();
  const files = [];
  session.on("Debugger.scriptParsed", ({ params }) => files.push(params.url));
  session.post("Debugger.enable");
  const { assembled } = await import(${JSON.stringify(new URL("../../samples/links/assembled.js", import.meta.url).href)});
  (await assembled(process.env)).build();
  console.log(files.join("\\n"));
`;
