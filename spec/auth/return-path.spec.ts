/** Where `takeReturnPath` leads: to this site, whatever a visitor's request or a session says, and never to a request that changed something. */
import { expectProblem, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { account, startAccounts } from "./account-application.js";

const FALLBACK = "/fallback";
const show = account.show.url();
const page = { headers: { accept: "text/html" } };

const pathOf = async (client: TestClient): Promise<string> =>
  (await (await client.get(account.back.url())).json<{ path: string }>()).path;

/** A browser follows the path from a page of this site. */
const originAfter = (path: string): string => new URL(path, "https://shop.example/account/sign-in").origin;

describe("the return path of a session", () => {
  let app: TestApp;
  before(async () => {
    app = await startAccounts();
  });
  after(() => app.stop());

  const refused = [
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "\t//evil.example",
    " //evil.example",
    "/\n/evil.example",
    "/a\r\nLocation: https://evil.example",
    "/\u0000/evil.example",
    "/\u007f",
    "https://evil.example",
    "https:evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "evil.example",
    "",
  ];
  for (const path of refused)
    it(`is not ${JSON.stringify(path)}`, async () => {
      expect(await pathOf(await app.withSession({ "auth-return": path }))).to.equal(FALLBACK);
    });

  const harmless = [
    "/%2f%2fevil.example",
    "/%5cevil.example",
    "/%09/evil.example",
    "/%0d%0aLocation:%20https://evil.example",
    "/\uff0fevil.example",
    "/\u2215\u2215evil.example",
    "/.//evil.example",
    "/..//evil.example",
    "/@evil.example",
    "/?next=//evil.example",
    "/#//evil.example",
  ];
  for (const path of harmless)
    it(`leads to this site by ${path}`, async () => {
      const found = await pathOf(await app.withSession({ "auth-return": path }));

      expect(found).to.equal(path);
      expect(originAfter(found)).to.equal("https://shop.example");
    });

  it("is no value of another type", async () => {
    for (const value of [7, true, ["/a"], { path: "/a" }, null])
      expect(await pathOf(await app.withSession({ "auth-return": value }))).to.equal(FALLBACK);
  });
});

describe("the request of a visitor", () => {
  let app: TestApp;
  before(async () => {
    app = await startAccounts();
  });
  after(() => app.stop());

  const referers = [
    "https://evil.example/a",
    "//evil.example/a",
    "https://evil.example@127.0.0.1/a",
    "javascript:alert(1)",
    "",
    "x".repeat(100),
  ];
  for (const referer of referers)
    it(`that changes something is not sent again, with the Referer ${JSON.stringify(referer.slice(0, 40))}`, async () => {
      const client = app.withCookies();
      const headers = { ...page.headers, ...(referer === "" ? {} : { referer }) };

      const response = await client.post(account.save.url(), { headers });

      expect([response.status, response.headers.get("location")]).to.deep.equal([303, account.signInPage.url()]);
      expect(await pathOf(client)).to.equal(FALLBACK);
    });

  it("returns to the page of the last tab, once", async () => {
    const client = app.withCookies();
    for (const tab of ["1", "2"]) await client.get(`${show}?tab=${tab}`, page);

    expect([await pathOf(client), await pathOf(client)]).to.deep.equal([`${show}?tab=2`, FALLBACK]);
  });

  it("by HEAD gets the redirect of a page, and that of a program the 401 with its challenge", async () => {
    const ofPage = await app.head(show, page);
    const ofProgram = await app.head(show);

    expect([ofPage.status, ofPage.headers.get("location")]).to.deep.equal([303, account.signInPage.url()]);
    expect([ofProgram.status, ofProgram.headers.get("www-authenticate")]).to.deep.equal([401, "Session"]);
    expect(await ofProgram.text()).to.equal("");
    await expectProblem(await app.get(show), { status: 401, slug: "authentication" });
  });

  it("sees no page between the redirect and the sign-in in a cache", async () => {
    const response = await app.get(show, page);

    expect(response.headers.get("cache-control")).to.equal("no-store");
  });
});
