/**
 * One port in development: the browser gets pages, sources and the hot reload from the port of the application. Vite has a `base` here;
 * `sample-in-development.spec.ts` shows the same without one.
 */
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { testApp, type TestApp } from "../../lib/testing/test-app.js";
import { launchBrowser } from "../support/browser.js";
import { editInPlace, hotReload } from "../support/edited-source.js";
import { FrontEndServer } from "../support/front-end.js";
import { needs } from "../support/machine.js";
import { ViteServer } from "../support/vite-server.js";

const BASE = "/assets/";

describe("In a browser, pages in development", function () {
  this.timeout(240_000);
  let browser: Browser;
  let vite: ViteServer;
  let app: TestApp;
  let page: Page;
  let reload: Promise<void>;
  let documents = 0;
  const endpointBefore = process.env["FRAMEWORK_VITE_IPC"];

  before(needs("chromium"));
  before(async () => {
    [vite, browser] = await Promise.all([ViteServer.start(BASE), launchBrowser()]);
    process.env["FRAMEWORK_VITE_IPC"] = vite.endpoint;
    app = await testApp(new FrontEndServer({ publicDirectory: "/nowhere" }).builder({ viteBase: BASE }).devProxy());
    page = await browser.newPage();
    page.on("request", (request) => (documents += request.isNavigationRequest() ? 1 : 0));
    reload = hotReload(page);
    await page.goto(app.url);
    await page.waitForSelector("h1");
  });
  after(async () => {
    if (endpointBefore === undefined) delete process.env["FRAMEWORK_VITE_IPC"];
    else process.env["FRAMEWORK_VITE_IPC"] = endpointBefore;
    await browser?.close();
    await app?.stop();
    await vite?.[Symbol.asyncDispose]();
  });

  it("are shown and visited", async () => {
    await page.click("text=form");
    await page.waitForSelector("form");
    await page.click("text=home");
    await page.waitForSelector("h1");

    expect(await page.textContent("h1")).to.equal("Hello");
  });

  it("keep their state when a source changes", async () => {
    await page.click("text=form");
    await page.fill("#name", "half a na");
    await page.click("#count");
    const loaded = documents;

    await reload;
    await editInPlace(vite.pathOf("pages/form.jsx"), "\n        save\n", "\n        keep\n");
    await page.waitForSelector("text=keep");

    expect(await page.inputValue("#name")).to.equal("half a na");
    expect(await page.textContent("#count")).to.equal("1");
    expect(documents).to.equal(loaded);
  });
});
