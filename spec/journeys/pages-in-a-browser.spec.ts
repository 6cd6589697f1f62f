/** The official client of Inertia in a browser, against a front end that Vite has built: what a visitor of pages sees. */
import { expect } from "chai";
import type { Browser, BrowserContext, Page, Request } from "playwright-core";
import { Application } from "../../lib/app/application.js";
import { Reply } from "../../lib/http/response/reply.js";
import { Route } from "../../lib/routing/route.js";
import { Routes } from "../../lib/routing/routes.js";
import { WorkerPageRenderer } from "../../lib/stages/pages/rendering/worker-page-renderer.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { testApp, type TestApp } from "../../lib/testing/test-app.js";
import { launchBrowser } from "../support/browser.js";
import { FrontEndBuild, FrontEndServer } from "../support/front-end.js";
import { Gate } from "../support/gate.js";
import { needs } from "../support/machine.js";
import { until } from "../support/until.js";

describe("In a browser, pages", function () {
  this.timeout(180_000);
  let browser: Browser;
  let context: BrowserContext;
  let build: FrontEndBuild;
  let server: FrontEndServer;
  let app: TestApp;
  let page: Page;
  let complaints: string[];
  let documents: Request[];

  before(needs("chromium"));
  before(async () => {
    [build, browser] = await Promise.all([FrontEndBuild.make(), launchBrowser()]);
    // One page for all tests, because a page of a new profile is a new process.
    context = await browser.newContext();
    page = await context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().includes("the server responded"))
        complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      if (request.isNavigationRequest()) documents.push(request);
    });
  });
  after(async () => {
    await browser?.close();
    await build?.[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    server = new FrontEndServer(build);
    app = await testApp(server.builder());
    complaints = [];
    documents = [];
    await page.goto(app.url);
    await page.waitForSelector("h1");
  });
  afterEach(async () => {
    await page.unrouteAll();
    await page.goto("about:blank");
    await context.clearCookies();
    await app.stop();
    expect(complaints).to.deep.equal([]);
  });

  const text = (selector: string): Promise<string | null> => page.textContent(selector);

  it("are shown on the first visit, under a policy with a nonce", async () => {
    expect(await text("h1")).to.equal("Hello");
    expect(await text("#shown")).to.match(/^\/ [0-9a-f]{32} ann$/);
    expect(await page.title()).to.equal("Home - Spec");
  });

  it("change without a new document, and keep the layout", async () => {
    await page.click("#count");
    await page.click("text=list");
    await page.waitForURL("**/list");
    await page.waitForSelector(".item");
    await page.click("text=home");
    await page.waitForSelector("h1");

    expect(await text("#count")).to.equal("1");
    expect(documents).to.have.length(1);
  });

  it("come back with back and forward, and after a document of another site", async () => {
    await page.click("text=form");
    await page.waitForSelector("form");
    await page.goBack();
    await page.waitForSelector("h1");
    await page.goForward();
    await page.waitForSelector("form");
    await page.goto("data:text/html,elsewhere");
    await page.goBack();
    await page.waitForSelector("form");

    expect(await page.content()).to.match(/<!doctype html>/i);
    expect(new URL(page.url()).pathname).to.equal("/form");
  });

  it("reload in part", async () => {
    const before = Number(await text("#time"));

    await page.click("#reload");
    await page.waitForFunction((old) => document.querySelector("#time")?.textContent !== String(old), before);
    await page.click("#more");
    await page.waitForFunction(() => document.querySelector("#extra")?.textContent === "an extra");

    expect(Number(await text("#time"))).to.equal(before + 1);
    expect(server.times).to.equal(before + 1);
  });

  it("fetch deferred props after the page, and show which one failed", async () => {
    await page.click("text=slow");
    await page.waitForSelector("#numbers");
    await page.waitForSelector("#rescued");

    expect(await text("#numbers")).to.equal("1 2 3");
    expect(await text("#rescued")).to.equal("no numbers");
  });

  it("grow while the reader scrolls, until the list ends", async () => {
    await page.click("text=list");
    await page.waitForSelector(".item");
    await page.waitForFunction(isWhole, undefined, { polling: 50 });

    const items = await page.$$eval(".item", (all) => all.map(({ textContent }) => textContent));
    expect(items).to.deep.equal(Array.from({ length: 30 }, (_, at) => `item ${at + 1}`));
  });

  it("show the errors of a form at its fields, and keep the input", async () => {
    await page.click("text=form");
    await page.fill("#target", "no url");
    await page.click("#save");
    await page.waitForSelector("#name-error");

    expect(await text("#name-error")).to.equal("is empty");
    expect(await text("#target-error")).to.equal("is not a URL");
    expect(await page.inputValue("#target")).to.equal("no url");
    expect(server.saved).to.deep.equal([]);
  });

  it("show the flash of a form once, not again on back", async () => {
    await page.click("text=form");
    await page.fill("#name", "a link");
    await page.fill("#target", "https://example.com/");
    await page.click("#save");
    await page.waitForSelector("#flash");
    const shown = await text("#flash");
    await page.click("text=list");
    await page.waitForSelector(".item");
    await page.goBack();
    await page.waitForSelector("h1");

    expect(shown).to.equal("Saved a link.");
    expect(await page.$("#flash")).to.equal(null);
    expect(server.saved).to.deep.equal(["a link"]);
  });

  it("are not sent twice by a second click", async () => {
    await page.click("text=form");
    await page.fill("#name", "once");
    await page.fill("#target", "https://example.com/");
    // The response comes after both clicks.
    const clicked = new Gate();
    await page.route("**/form", (route) => clicked.passed.then(() => route.continue()));
    await page.dblclick("#save");
    clicked.open();
    await page.waitForSelector("#flash");

    expect(server.saved).to.deep.equal(["once"]);
  });

  it("follow the redirect of a DELETE with a GET", async () => {
    await page.click("text=form");
    await page.click("#remove");
    await page.waitForSelector("h1");

    expect(new URL(page.url()).pathname).to.equal("/");
  });

  it("show an error as a page, without a new document", async () => {
    await page.click("text=missing");
    await page.waitForSelector("text=failure 404");

    expect(documents).to.have.length(1);
    await page.goto(`${app.url}/missing`);
    await page.waitForSelector("text=failure 404");
  });

  it("keep the fragment of a redirect", async () => {
    await page.click("text=part");
    await page.waitForSelector(".item");

    expect(new URL(page.url()).hash).to.equal("#end");
    expect(documents).to.have.length(1);
  });

  it("stay where an action returns nothing", async () => {
    await page.click("text=empty");
    await page.waitForFunction(() => document.querySelector("#time")?.textContent !== "1");

    expect(await text("h1")).to.equal("Hello");
    expect(await page.$("dialog")).to.equal(null);
  });

  it("lead to another site with a document", async () => {
    const there = new Routes([Route.get("/pay", () => Reply.html("<title>Pay</title><link rel=icon href=data:,>"))]);
    await using elsewhere = await testApp(Application.create().routes(there));
    server.elsewhere = `${elsewhere.url}/pay`;

    await page.click("text=away");
    await page.waitForURL(server.elsewhere);

    expect(await page.title()).to.equal("Pay");
  });

  it("are read without scripts where the server renders them, and start without a second rendering", async () => {
    const renderer = new WorkerPageRenderer({ bundle: build.serverBundle }, new FakeClock());
    await using rendered = await testApp(server.builder({ renderer, mustRender: true }));
    const quiet = await browser.newContext({ javaScriptEnabled: false });
    const reading = await quiet.newPage();

    await reading.goto(`${rendered.url}/list`);
    const read = [await reading.title(), await reading.locator(".item").count(), await colour(reading)];
    await quiet.close();
    await page.goto(`${rendered.url}/list`);
    await page.waitForSelector("#app[data-started]");
    await page.click("#count");

    expect(read).to.deep.equal(["List - Spec", 10, "rgb(1, 2, 3)"]);
    expect(await colour(page)).to.equal("rgb(1, 2, 3)");
    expect(await text("#count")).to.equal("1");
    expect(await page.title()).to.equal("List - Spec");
  });

  it("have assets that the browser fetches by the header alone, and once where the tags name them too", async () => {
    await using tagged = await testApp(server.builder({ linkHeader: true }));
    await using untagged = await testApp(new FrontEndServer(build).builder({ linkHeader: true, document: bare }));
    const fetched: string[] = [];
    const note = (request: Request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith("/build/")) fetched.push(pathname);
    };
    page.on("request", note);

    await page.goto(`${tagged.url}/list`);
    await page.waitForSelector(".item");
    const withTags = fetched.splice(0);
    await page.goto(`${untagged.url}/list`, { waitUntil: "networkidle" });
    // On a busy machine the browser may idle before it begins with the files of the header.
    await until(() => fetched.length >= withTags.length);
    page.off("request", note);

    expect(withTags)
      .to.have.length(3)
      .and.deep.equal([...new Set(withTags)]);
    expect(fetched).to.deep.equal(withTags);
  });

  it("are loaded anew when the assets have another version", async () => {
    await using next = await testApp(new FrontEndServer(build).builder({ version: "next" }));
    await page.route(`${app.url}/**`, async (route) => {
      const url = route.request().url().replace(app.url, next.url);
      const { status, headers, body } = await replayed(url, route.request());
      await route.fulfill({ status, headers, body });
    });

    await page.click("text=form");
    await page.waitForSelector("form");

    expect(await text("#shown")).to.equal("/form next ann");
    expect(documents.map((request) => new URL(request.url()).pathname)).to.deep.equal(["/", "/form"]);
  });
});

/**
 * Scrolls, in the browser, until the list has ended. Its end counts when it comes into view. Where the client is still busy with the items
 * before, it must come again.
 */
function isWhole(): boolean {
  window.scrollTo(0, window.scrollY > 0 ? 0 : document.body.scrollHeight);
  return document.querySelectorAll(".item").length >= 30;
}

/** By the style element in the head of the list. */
const colour = (page: Page) => page.$eval(".item", (item) => getComputedStyle(item).color);

/** Without the tags of the front end. */
const bare = () => "<!DOCTYPE html><title>Bare</title>";

/** The response of another server: as if the server had been replaced by one with new assets. */
async function replayed(url: string, request: Request) {
  const response = await fetch(url, { headers: request.headers(), redirect: "manual" });
  const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== "content-encoding"));
  return { status: response.status, headers, body: Buffer.from(await response.arrayBuffer()) };
}
