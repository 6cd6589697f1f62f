/** A person with a browser: opens the page, makes a link, and follows it. */
import { Application, Reply, Route, Routes } from "@stagecraft/framework";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { linksApplication } from "../../samples/links/application.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { launchBrowser } from "../support/browser.js";
import { needs } from "../support/machine.js";

describe("In a browser, samples/links", function () {
  this.timeout(60_000);
  let browser: Browser;
  let page: Page;
  let app: TestApp;
  let elsewhere: TestApp;
  const complaints: string[] = [];

  before(needs("chromium"));
  before(async () => {
    browser = await launchBrowser();
    app = await testApp(linksApplication(settingsFrom({})));
    const there = new Routes([
      Route.get("/there", () => Reply.html(`<title>There</title><link rel="icon" href="data:,">`)),
    ]);
    elsewhere = await testApp(Application.create().routes(there));
    page = await browser.newPage();
    // A browser reports refusals on its console too.
    page.on("console", (message) => message.text().includes("the server responded") || complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
  });
  after(async () => {
    await browser?.close();
    await Promise.all([app?.stop(), elsewhere?.stop()]);
  });

  it("signs up, makes a link from the form, and is redirected to its target", async () => {
    await page.goto(app.url);
    expect(await page.textContent("body")).to.include("No links yet");
    await page.click("text=sign up");
    await page.fill("input[name=name]", "ada");
    await page.fill("input[name=password]", "correct horse");
    await page.click("button");
    await page.waitForURL(`${app.url}/`);
    expect(await page.textContent("[role=status]")).to.equal("Welcome, ada.");

    await page.fill("input[name=target]", `${elsewhere.url}/there`);
    await page.fill("input[name=slug]", "my-link");
    await page.click("text=Shorten");
    await page.waitForURL(`${app.url}/`);
    expect(await page.textContent("[role=status]")).to.equal("The link my-link is ready.");
    await page.click("a[href='/to/my-link']");
    await page.waitForURL(`${elsewhere.url}/there`);

    expect(await page.title()).to.equal("There");
    await page.goto(app.url);
    expect((await page.textContent("tbody tr"))?.endsWith("1")).to.equal(true);
    expect(await page.locator("[role=status]").count()).to.equal(0);
  });

  const refused: readonly (readonly [string, string, string, string, string])[] = [
    ["a name that is taken", "https://example.com/?q=<x>", "taken", "slug", "that name is taken"],
    ["another protocol", "ftp://example.com/", "ftp-link", "target", "an absolute http or https URL"],
  ];
  for (const [what, target, slug, field, fault] of refused) {
    it(`shows beside its field why ${what} is refused, keeps the input, and fits a phone`, async () => {
      const headers = { authorization: "Bearer of-a-program" };
      await app.post("/api/links", { headers, json: { target: "https://example.com/", slug: "taken" } });
      await page.setViewportSize({ width: 360, height: 640 });
      await page.goto(app.url);
      await page.fill("input[name=target]", target);
      await page.fill("input[name=slug]", slug);

      const [answer] = await Promise.all([
        page.waitForResponse((response) => response.url().endsWith("/shorten")),
        page.click("text=Shorten"),
      ]);
      await page.waitForURL(`${app.url}/`);

      expect(answer.status()).to.equal(303);
      expect(await page.textContent(`label:has(input[name=${field}]) strong`)).to.equal(fault);
      expect(await page.locator("strong").count()).to.equal(1);
      const kept = [await page.inputValue("input[name=target]"), await page.inputValue("input[name=slug]")];
      expect(kept).to.deep.equal([target, slug]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.equal(360);
    });
  }

  it("refuses a sign-up and accepts the next one on a phone without JavaScript", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 360, height: 640 } });
    const phone = await context.newPage();
    const submit = async (name: string, password: string) => {
      await phone.fill("input[name=name]", name);
      await phone.fill("input[name=password]", password);
      await phone.locator("form button").last().click();
    };

    await phone.goto(`${app.url}/account/sign-up`);
    await submit("EVE!", "short");
    await phone.locator("strong").first().waitFor();
    expect(await phone.locator("strong").count()).to.equal(2);
    expect(await phone.inputValue("input[name=name]")).to.equal("EVE!");
    expect(await phone.inputValue("input[name=password]")).to.equal("");
    await submit("eve", "correct horse");
    await phone.waitForURL(`${app.url}/`);

    expect(await phone.textContent("[role=status]")).to.equal("Welcome, eve.");
    await context.close();
  });

  it("keeps field and button apart on a wide screen", async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(app.url);

    const [field, button] = [
      await page.locator("input[name=slug]").boundingBox(),
      await page.locator("text=Shorten").boundingBox(),
    ];

    expect((field?.x ?? NaN) + (field?.width ?? NaN)).to.be.below(button?.x ?? NaN);
  });

  it("removes a link, signs out, and signs in again; a wrong password keeps the name alone", async () => {
    await page.goto(app.url);
    await page.click("text=Remove");
    await page.waitForURL(`${app.url}/`);
    expect(await page.textContent("[role=status]")).to.equal("The link my-link is removed.");
    await page.click("text=Sign out");
    await page.waitForURL(`${app.url}/`);
    expect(await page.textContent("[role=status]")).to.equal("You have signed out.");

    await page.click("text=Sign in");
    for (const password of ["wrong horse", "correct horse"]) {
      await page.fill("input[name=name]", "ada");
      await page.fill("input[name=password]", password);
      await Promise.all([
        page.waitForResponse((response) => response.request().method() === "POST"),
        page.click("button"),
      ]);
      await page.waitForLoadState();
      if (password === "correct horse") continue;
      expect(await page.textContent("strong")).to.equal("name or password are wrong");
      expect(await page.inputValue("input[name=name]")).to.equal("ada");
      expect(await page.inputValue("input[name=password]")).to.equal("");
    }
    await page.waitForURL(`${app.url}/`);
    expect(await page.textContent("[role=status]")).to.equal("Welcome back, ada.");
  });

  it("applies its own style under its own policy, without a console error", async () => {
    await page.goto(app.url);

    const width = await page.evaluate(() => getComputedStyle(document.body).maxWidth);

    expect(width).to.equal("736px");
    expect(complaints).to.deep.equal([]);
  });
});
