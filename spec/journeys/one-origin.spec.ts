/** Every stage that asks whether a URL is of this site gives the same reply, however host and port are spelt (RFC 9110 section 4.2.3). */
import {
  AppConfig,
  Application,
  ProxyAction,
  redirect,
  Reply,
  Route,
  Routes,
  type Context,
} from "@stagecraft/framework";
import { Pages } from "@stagecraft/framework/pages";
import { CsrfConfig, CsrfToken } from "@stagecraft/framework/session";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { launchBrowser } from "../support/browser.js";
import { needs } from "../support/machine.js";

const routes = new Routes([
  Route.get("/back", () => redirect().back("/fallback")),
  Route.get("/koa-back", (ctx: Context) => ctx.response.back("/fallback")),
  Route.get("/to", (ctx: Context) => ctx.redirect(new URLSearchParams(ctx.querystring).get("url") ?? "")),
  Route.post("/act", () => "done"),
  Route.post("/empty", () => undefined),
  Route.get("/form", (ctx: Context) => {
    const icon = '<link rel="icon" href="data:,">';
    const form = `<form method="post" action="/act">${CsrfToken.of(ctx).field()}<button>go</button></form>`;
    return Reply.html(`<!doctype html>${icon}${form}`);
  }),
]);
const build = () =>
  Application.create()
    .config(new AppConfig({ url: "https://configured.example:443" }))
    .csrf(CsrfConfig.pages().dev().trust("https://pay.example"))
    .pages(new Pages())
    .routes(routes);

/** The host of a request over HTTP, an origin, and whether pages of the origin belong to the site of the request. */
const ROWS: readonly (readonly [host: string, origin: string, isOwn: boolean])[] = [
  ["shop.example", "http://shop.example", true],
  ["shop.example:80", "http://shop.example", true],
  ["Shop.EXAMPLE", "http://shop.example", true],
  ["shop.example", "http://shop.example:80", true],
  ["shop.example:443", "https://shop.example", true],
  ["shop.example", "https://shop.example", true],
  ["shop.example:8080", "http://shop.example:8080", true],
  ["shop.example", "https://configured.example", true],
  ["shop.example:8080", "http://shop.example", false],
  ["shop.example", "http://shop.example:8080", false],
  ["shop.example", "http://www.shop.example", false],
  ["shop.example:80", "https://shop.example.evil.example", false],
];

describe("the origins of a site", () => {
  for (const [host, origin, isOwn] of ROWS) {
    it(`with Host ${host} ${isOwn ? "include" : "do not include"} ${origin}`, async () => {
      await using app = await testApp(build());
      const token = "0".repeat(64);
      const inertia = { host, "x-inertia": "true" };
      const pair = { cookie: `XSRF-TOKEN=${token}`, "x-xsrf-token": token };

      const posted = await app.post("/act", { headers: { host, origin, ...pair } });
      const back = await app.get("/back", { headers: { host, referer: `${origin}/form` } });
      const away = await app.get(`/to?url=${encodeURIComponent(`${origin}/there`)}`, { headers: inertia });
      const empty = await app.post("/empty", { headers: { ...inertia, ...pair, referer: `${origin}/form` } });

      expect(posted.status).to.equal(isOwn ? 200 : 403);
      expect(back.headers.get("location")).to.equal(isOwn ? "/form" : "/fallback");
      expect(away.status).to.equal(isOwn ? 302 : 409);
      expect(empty.headers.get("location")).to.equal(isOwn ? "/form" : "/empty");
      if (origin === "https://configured.example") return;
      const koaBack = await app.get("/koa-back", { headers: { host, referer: `${origin}/form` } });
      expect(koaBack.headers.get("location")).to.equal(isOwn ? new URL(`${origin}/form`).href : "/fallback");
    });
  }

  it("include a trusted one, spelt in any way", async () => {
    await using app = await testApp(build());

    for (const origin of ["https://pay.example", "HTTPS://Pay.example:443"])
      expect((await app.post("/act", { headers: { origin } })).status).to.equal(200);
  });

  it("decide where a target without a scheme leads", async () => {
    await using app = await testApp(build());
    const headers = { host: "shop.example:80", "x-inertia": "true" };

    const own = await app.get(`/to?url=${encodeURIComponent("//SHOP.example/there")}`, { headers });
    const other = await app.get(`/to?url=${encodeURIComponent("//evil.example/there")}`, { headers });

    expect([own.status, other.status]).to.deep.equal([302, 409]);
  });

  describe("in Chromium", function () {
    this.timeout(180_000);
    let browser: Browser | undefined;

    before(needs("chromium"));
    after(() => browser?.close());

    it("include a page whose proxy writes the default port into Host", async () => {
      await using app = await testApp(build().proxy(() => ProxyAction.continue({ host: "shop.test:80" })));
      browser = await launchBrowser(`--host-resolver-rules=MAP shop.test:80 ${app.url.replace("http://", "")}`);
      const page = await browser.newPage();
      await page.goto("http://shop.test/form");

      const followed = await page.evaluate(async () => {
        const visit = { headers: { "X-Inertia": "true" } };
        return (await fetch("/to?url=http://shop.test/form", visit)).status;
      });
      const [response] = await Promise.all([page.waitForResponse("http://shop.test/act"), page.click("button")]);

      expect(followed).to.equal(200);
      expect(await response.text()).to.equal("done");
    });
  });
});
