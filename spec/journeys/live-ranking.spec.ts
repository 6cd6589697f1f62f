/** The page of `samples/links` whose list changes while a person reads it: its front end calls the server with the typed client. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Clock, provide } from "@stagecraft/framework";
import { WorkerPageRenderer } from "@stagecraft/framework/pages";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { linksApplication } from "../../samples/links/application.js";
import { buildFrontEnd } from "../../samples/links/build-front-end.js";
import { CLIENT_BUILD, linkPages, SERVER_BUNDLE } from "../../samples/links/front-end.js";
import { LinkStore } from "../../samples/links/link-store.js";
import { ranking } from "../../samples/links/links.routes.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { launchBrowser } from "../support/browser.js";
import { needs } from "../support/machine.js";
import { SampleVisitor } from "../support/sample-visitor.js";
import { until } from "../support/until.js";
import { judgeResponses } from "../support/judged-responses.js";
import { describeLinks } from "../support/sample-documents.js";

const PATH = ranking.page.url();
const LIVE = ranking.live.url();

describe("In a browser, the ranking of samples/links", function () {
  this.timeout(120_000);
  judgeResponses(describeLinks);
  let browser: Browser;
  let clock: FakeClock;
  let app: TestApp;
  let store: LinkStore;

  before(needs("chromium"));
  before(async () => {
    [browser] = await Promise.all([launchBrowser(), buildFrontEnd()]);
  });
  after(() => browser?.close());
  beforeEach(async () => {
    clock = new FakeClock();
    // The thread that renders has a clock that stands still: a busy machine takes longer for a page.
    const pages = linkPages({
      mustRender: true,
      renderer: new WorkerPageRenderer({ bundle: SERVER_BUNDLE }, new FakeClock()),
    });
    app = await testApp(linksApplication(settingsFrom({}), { pages }), provide(Clock).useValue(clock));
    store = app.resolve(LinkStore);
    for (const slug of ["one", "two"]) await store.add(slug, "https://example.com/");
  });
  afterEach(() => app?.stop());

  /** Lets time pass until the first row of the page is that of a link. */
  const leads = ({ page }: SampleVisitor, slug: string) =>
    until(async () => {
      clock.advance(5000);
      // The ranking is counted before the response.
      await app.client(ranking).list();
      return (await page.getAttribute(".row:first-child .short", "href")) === `/to/${slug}`;
    });

  it("changes while it is shown, in one document", async () => {
    await using ada = await SampleVisitor.at(browser, app.url);
    const called = ada.page.waitForResponse((response) => response.url().endsWith(LIVE));
    await ada.open(PATH);
    expect((await called).headers()["content-type"]).to.equal("text/event-stream");

    await store.countVisit("two", "2026-01-01");
    await leads(ada, "two");

    expect(await ada.page.textContent(".row:first-child .visits")).to.equal("1 visit");
    expect(ada.documents).to.deep.equal([PATH]);
  });

  it("calls again after a refusal, and no more when the page is left", async () => {
    await using ada = await SampleVisitor.at(browser, app.url);
    const { page } = ada;
    await page.clock.install();
    await page.route(`**${LIVE}`, (route) => route.fulfill({ status: 503 }), { times: 1 });
    const refused = page.waitForResponse((response) => response.url().endsWith(LIVE) && response.status() === 503);
    await ada.open(PATH);
    await refused;

    const called = page.waitForResponse((response) => response.url().endsWith(LIVE));
    await page.clock.runFor(5000);
    expect((await called).status()).to.equal(200);
    await store.countVisit("two", "2026-01-01");
    await leads(ada, "two");
    const left = page.waitForEvent("requestfailed", (request) => request.url().endsWith(LIVE));
    await page.click("text=All links");
    await left;
    const further: string[] = [];
    page.on("request", (request) => further.push(request.url()));
    await page.clock.runFor(10_000);

    expect(further.filter((url) => url.endsWith(LIVE))).to.deep.equal([]);
  });

  it("is in a bundle without the library of the schemas", async () => {
    const assets = join(CLIENT_BUILD, "assets");
    const names = await readdir(assets);
    const files = await Promise.all(names.map((name) => readFile(join(assets, name), "utf8")));

    expect(files.some((text) => text.includes(LIVE))).to.equal(true);
    expect(files.filter((text) => text.includes("ZodError"))).to.deep.equal([]);
  });
});
