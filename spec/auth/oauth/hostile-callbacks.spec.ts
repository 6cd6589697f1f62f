/** Callbacks that an attacker forges, changes or repeats, over a real socket. */
import { FakeClock, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { account, addPerson, signInAs } from "../account-application.js";
import { LiarProvider } from "./liar-provider.js";
import { other, providers, startProviders } from "./provider-application.js";

const START = providers.start.url("liar");
const EXPIRED = { kind: "expired" };
const REFUSED = { kind: "refused" };

describe("a hostile callback", function () {
  this.timeout(60_000);
  let liar: LiarProvider;
  let app: TestApp;
  let ada: TestClient;

  beforeEach(async () => {
    liar = await LiarProvider.start();
    app = await startProviders({ clock: new FakeClock(), oauth: { providers: [liar.provider(), other] } });
    ada = app.withCookies();
  });
  afterEach(async () => {
    await app.stop();
    await liar[Symbol.asyncDispose]();
  });

  const finish = async (path: string, by = ada) => (await by.get(path)).json<{ kind: string }>();
  const isSignedIn = async (by = ada) => (await by.get(account.show.url())).status === 200;
  const queryOf = (path: string) => new URL(path, app.url).searchParams;

  it("without an attempt is expired, and the provider is not asked", async () => {
    const state = "x".repeat(43);
    const queries = ["", "?", "?code=stolen", `?code=stolen&state=${state}`, `?error=access_denied&state=${state}`];
    for (const query of queries) expect(await finish(providers.callback.url("liar") + query)).to.deep.equal(EXPIRED);

    expect(liar.requests).to.deep.equal([]);
  });

  it("with a cookie that is cut, changed, foreign or one of a thousand is expired", async () => {
    const started = await app.get(START);
    const [cookie = ""] = started.headers.getSetCookie().map((line) => line.split(";", 1)[0] ?? "");
    const state = queryOf(started.headers.get("location") ?? "").get("state") ?? "";
    const path = `${providers.callback.url("liar")}?code=x&state=${state}`;
    const [name = "", value = ""] = cookie.split("=");
    const many = Array.from({ length: 300 }, (_, at) => `framework-oauth-${String(at).padStart(16, "0")}=x`);
    const cookies = [
      `${name}=`,
      `${name}=${value.slice(1)}`,
      `${name}=${value}A`,
      `${name}0=${value}`,
      many.join("; "),
    ];
    for (const each of cookies)
      expect(await (await app.get(path, { headers: { cookie: each } })).json(), each.slice(0, 50)).to.deep.equal(
        EXPIRED,
      );

    const restarted = await app.get(START, { headers: { cookie: many.join("; ") } });
    expect(restarted.status).to.equal(303);
    expect(restarted.headers.getSetCookie()).to.have.lengthOf.below(10);
  });

  it("with the code of another person is refused", async () => {
    const [own, stolen] = [await liar.visit(ada, START), await liar.visit(app.withCookies(), START)];
    const code = queryOf(stolen).get("code") ?? "";
    const injected = `${providers.callback.url("liar")}?code=${code}&state=${queryOf(own).get("state") ?? ""}`;

    expect(await finish(injected)).to.deep.equal(REFUSED);
    expect(await isSignedIn()).to.equal(false);
    expect(await finish(own), "the attempt is used up").to.deep.equal(EXPIRED);
  });

  it("of another provider than that of the start is expired", async () => {
    const path = await liar.visit(ada, START);

    expect(await finish(path.replace("/liar?", "/other?"))).to.deep.equal(EXPIRED);
    expect(await finish(path)).to.deep.equal(EXPIRED);
    expect(liar.requests).not.to.include("/token");
  });

  it("with a parameter twice, or tokens in the query, is refused", async () => {
    const added = ["code=x", "state=x", "id_token=x", "response=x", "iss=x"];
    for (const each of added) {
      const path = await liar.visit(ada, START);
      expect(await finish(`${path}&${each}`), each).to.deep.equal(REFUSED);
    }
    const path = await liar.visit(ada, START);
    expect(await finish(path.replace("?", "?state=x&"))).to.deep.equal(EXPIRED);
    expect(await isSignedIn()).to.equal(false);
  });

  it("with a query of 12 kB is expired, and one of 100 kB is refused by the parser", async () => {
    const path = await liar.visit(ada, START);

    expect(await finish(`${path}&x=${"x".repeat(12_000)}`)).to.deep.equal(EXPIRED);
    expect((await ada.get(`${path}&x=${"x".repeat(100_000)}`)).status).to.equal(431);
    expect(await finish(path), "neither has used the attempt up").to.include({ kind: "signed-in" });
  });

  it("that a form of another site posts is a 405, and uses nothing up", async () => {
    const path = await liar.visit(ada, START);
    const [url = "", body = ""] = path.split("?");
    const headers = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "cross-site" };

    expect((await ada.post(url, { body, headers })).status).to.equal(405);
    expect(await finish(path)).to.include({ kind: "signed-in" });
  });

  it("of a link whose person has signed out meanwhile is expired", async () => {
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    const path = await liar.visit(client, providers.link.url("liar"));
    await client.post(account.signOut.url());

    expect(await finish(path, client)).to.deep.equal(EXPIRED);
    expect(await isSignedIn(client)).to.equal(false);
    expect(await (await (await signInAs(app, "ada")).get(providers.list.url())).json()).to.deep.equal([]);
  });

  it("has a return path that no cookie is too small for", async () => {
    const lengths = [];
    for (const to of [`/${"x".repeat(1023)}`, `/${"€".repeat(1000)}`, `/${'"'.repeat(1000)}`, `/${"é".repeat(100)}`]) {
      const response = await ada.get(`${START}?${new URLSearchParams({ to }).toString()}`);
      lengths.push(Math.max(...response.headers.getSetCookie().map((line) => Buffer.byteLength(line))));
    }

    expect(Math.max(...lengths)).to.be.below(4096);
    const path = await liar.visit(ada, `${START}?to=${encodeURIComponent("/käse?q=ä")}`);
    expect(await finish(path)).to.include({ returnTo: "/k%C3%A4se?q=%C3%A4" });
  });
});
