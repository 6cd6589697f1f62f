/** The support desk beside the company's provider: a person of the staff in Chromium, and the token of a service. */
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { launchBrowser } from "../../support/browser.js";
import { needs } from "../../support/machine.js";
import { createDesk, type DeskSettings } from "./application.js";
import { Company } from "./company.js";
import { account, pages, tickets } from "./endpoints.js";

async function startBoth(settings: Partial<DeskSettings> = {}) {
  const company = await Company.start();
  const app = await testApp(createDesk({ issuer: company.issuer, ...settings }));
  const url = app.url.replace("127.0.0.1", "localhost");
  await company.register(url);
  const stop = async () => {
    await app.stop();
    await company[Symbol.asyncDispose]();
  };
  return { company, app, url, [Symbol.asyncDispose]: stop };
}

describe("a support desk beside the provider of its company", function () {
  this.timeout(120_000);
  let browser: Browser;

  before(needs("chromium"));
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser?.close());

  /** Opens the desk, signs in at the company, and comes back. */
  async function signIn(url: string, locale = "de-DE") {
    const page = await browser.newPage({ locale });
    await page.goto(url + pages.home.url());
    await page.click(`a[href="${account.start.url("company")}"]`);
    await page.fill("[name=login]", "ada");
    await page.fill("[name=password]", "any");
    await page.click("[type=submit]");
    await page.click("[type=submit]");
    return page;
  }

  it("signs a person in from the page that the person wanted, and out at both", async () => {
    await using both = await startBoth();
    const page = await signIn(both.url);

    expect(page.url()).to.equal(both.url + pages.home.url());
    expect(await page.textContent("body")).to.include("0 offene Anfragen");
    await page.goto(both.url + pages.profile.url());
    expect(await page.textContent("body")).to.include('"email":"ada@company.example"');
    await page.goto(both.url + pages.home.url());
    await page.click("button");
    await page.click("[name=logout]");
    await page.waitForURL(both.url + account.signInPage.url());
    await page.goto(both.url + pages.home.url());
    expect(page.url()).to.equal(both.url + account.signInPage.url());
    await page.context().close();
  });

  it("shows a sign-in that did not succeed in the language of the person, and logs the code of the provider", async () => {
    await using both = await startBoth({ clientSecret: "another secret" });
    const page = await signIn(both.url, "ar");

    expect(await page.getAttribute("html", "dir")).to.equal("rtl");
    expect(await page.textContent("[role=alert]"))
      .to.include("لم ينجح تسجيل الدخول")
      .and.to.include("refused");
    const [line] = both.app.logs.lines().filter((each) => each.includes("sign-in refused"));
    expect(line).to.include('"reason":"invalid_client"');
    await page.context().close();
  });

  it("takes the tokens that the provider issues to services, with their scopes", async () => {
    await using both = await startBoth();
    const headers = await both.company.authorize("tickets:read");
    const json = { subject: "No heating", requester: "eve@example.org" };

    expect((await both.app.get(tickets.list.url(), { headers })).status).to.equal(200);
    expect((await both.app.post(tickets.store.url(), { headers, json })).status).to.equal(403);
    expect((await both.app.get(tickets.list.url())).status).to.equal(401);
  });
});
