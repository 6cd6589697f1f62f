/** How often Chromium sends one request whose handler is too slow, on a connection that it uses again. */
import { Application, Reply, Route, Routes } from "@stagecraft/framework";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "../support/browser.js";
import { needs } from "../support/machine.js";

const PAGE = `<!doctype html><link rel="icon" href="data:,">
  <form method="post" action="/orders"><button>order</button></form>`;

/** A shop whose orders are never ready, and the number of orders that it has received. */
class SlowShop {
  orders = 0;

  async open(status: 408 | 503): Promise<TestApp> {
    const routes = new Routes([
      Route.get("/", () => Reply.html(PAGE)),
      Route.post("/orders", () => {
        this.orders += 1;
        return new Promise(() => {});
      }),
    ]);
    return testApp(Application.create().routes(routes).timeout(50, { status }));
  }
}

const fetchOrder = (page: Page): Promise<unknown> =>
  page.evaluate('fetch("/orders", { method: "POST" }).then(({ status }) => status, String)');

const submitOrder = (page: Page): Promise<unknown> => page.click("button");

const ways: readonly (readonly [string, (page: Page) => Promise<unknown>])[] = [
  ["one fetch()", fetchOrder],
  ["one form", submitOrder],
];

describe("Chromium, with a handler that is too slow", function () {
  this.timeout(180_000);
  let browser: Browser;
  let page: Page;

  before(needs("chromium"));
  before(async () => {
    browser = await launchBrowser();
    page = await browser.newPage();
  });
  after(() => browser?.close());

  /** The orders that the shop has received when the response is there. */
  async function ordersOf(status: 408 | 503, order: (page: Page) => Promise<unknown>): Promise<number> {
    const shop = new SlowShop();
    await using app = await shop.open(status);
    await page.goto(app.url);
    const received = page.waitForResponse((response) => response.url().endsWith("/orders"));
    await order(page);
    await received;
    return shop.orders;
  }

  for (const [what, order] of ways) {
    it(`sends ${what} once, where the timeout gives 503`, async () => {
      expect(await ordersOf(503, order)).to.equal(1);
    });

    it(`sends ${what} more than once, where it gives 408`, async () => {
      expect(await ordersOf(408, order)).to.be.greaterThan(1);
    });
  }
});
