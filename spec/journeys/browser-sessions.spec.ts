/** Sessions and CSRF protection in Chromium: its rules for cookies on localhost, and pages of two sites that are two loopback names. */
import { Application, Reply, Route, Routes, type Context } from "@stagecraft/framework";
import { CsrfConfig, CsrfToken, Flash, Session, SessionConfig, sessionKey } from "@stagecraft/framework/session";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { launchBrowser } from "../support/browser.js";
import { needs } from "../support/machine.js";

const KEY = "5a".repeat(64);
const NAME = sessionKey<string>("name");
const ICON = '<link rel="icon" href="data:,">';

const html = (body: string) => Reply.html(`<!doctype html>${ICON}${body}`);

const shop = new Routes([
  Route.get("/", async (ctx: Context) => {
    const { messages } = await Flash.of(ctx).take();
    const name = (await Session.of(ctx).get(NAME)) ?? "nobody";
    const said = messages.map(({ message }) => `<p id="said">${message}</p>`).join("");
    const field = CsrfToken.of(ctx).field();
    return html(`${said}<b id="name">${name}</b>
      <form method="post" action="/sign-in">${field}<button id="in">in</button></form>
      <form method="post" action="/sign-out">${field}<button id="out">out</button></form>`);
  }),
  Route.post("/sign-in", (ctx: Context) => {
    Session.of(ctx).regenerate();
    Session.of(ctx).put("name", "Ada");
    Flash.of(ctx).success("Welcome");
    ctx.status = 303;
    ctx.set("Location", "/");
  }),
  Route.post("/sign-out", (ctx: Context) => {
    Session.of(ctx).flush();
    ctx.status = 303;
    ctx.set("Location", "/");
  }),
]);

/** A page of another site that posts to the shop, with a token if it has one. */
const evil = new Routes([
  Route.get("/post", (ctx: Context) => {
    const { to = "", token = "" } = ctx.search() as Record<string, string>;
    return html(`<form method="post" action="${to}"><input name="_token" value="${token}"><button>go</button></form>`);
  }),
  Route.get("/link", (ctx: Context) => html(`<a href="${new URLSearchParams(ctx.querystring).get("to")}">go</a>`)),
]);

/** Clicks, and waits for the document that the form leads to, which has the same URL as the one before. */
const send = (page: Page, selector: string) => Promise.all([page.waitForEvent("load"), page.click(selector)]);
const signIn = async (page: Page, url: string) => {
  await page.goto(url);
  await send(page, "#in");
};
const nameOn = (page: Page) => page.textContent("#name");

describe("in Chromium", function () {
  this.timeout(180_000);
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let elsewhere: TestApp;

  before(needs("chromium"));
  before(async () => {
    browser = await launchBrowser("--host-resolver-rules=MAP shop.test 127.0.0.1");
    // One page for all tests, because a page of a new profile is a new process.
    context = await browser.newContext();
    page = await context.newPage();
    elsewhere = await testApp(Application.create().routes(evil));
  });
  after(async () => {
    await browser?.close();
    await elsewhere?.stop();
  });

  /** An application under the name `localhost`, and a profile without cookies. */
  async function opened(session: SessionConfig, csrf: CsrfConfig, work: (url: string) => Promise<void>): Promise<void> {
    await using app = await testApp(Application.create().session(session).csrf(csrf).routes(shop));
    await context.clearCookies();
    await work(app.url.replace("127.0.0.1", "localhost"));
    await page.goto("about:blank");
  }

  for (const [title, session, csrf] of [
    ["the release cookies, because localhost counts as secure", SessionConfig.pages(KEY), CsrfConfig.pages()],
    ["the cookies of development", SessionConfig.pages(KEY).dev(), CsrfConfig.pages().dev()],
    ["strict cookies", new SessionConfig(KEY), new CsrfConfig()],
  ] as const)
    it(`a visitor signs in and out with ${title}`, () =>
      opened(session, csrf, async (url) => {
        await signIn(page, url);
        expect(await nameOn(page)).to.equal("Ada");
        expect(await page.textContent("#said")).to.equal("Welcome");
        await page.reload();
        expect(await page.locator("#said").count()).to.equal(0);
        const cookies = await context.cookies();
        expect(cookies.map(({ httpOnly }) => httpOnly)).to.have.members([false, true]);
        await send(page, "#out");
        expect(await nameOn(page)).to.equal("nobody");
      }));

  it("the development cookies work on a name that does not count as secure, and the release cookies do not", async () => {
    for (const [session, csrf, name] of [
      [SessionConfig.pages(KEY).dev(), CsrfConfig.pages().dev(), "Ada"],
      [SessionConfig.pages(KEY), CsrfConfig.pages(), undefined],
    ] as const) {
      await using app = await testApp(Application.create().session(session).csrf(csrf).routes(shop));
      await context.clearCookies();
      await page.goto(app.url.replace("127.0.0.1", "shop.test"));
      await send(page, "#in");
      const found = (await page.locator("#name").count()) === 0 ? undefined : await nameOn(page);
      expect(found).to.equal(name);
      await page.goto("about:blank");
    }
  });

  it("a page of another site cannot post, even with a token that matches", () =>
    opened(SessionConfig.pages(KEY), CsrfConfig.pages(), async (url) => {
      await signIn(page, url);
      const token = (await context.cookies()).find(({ name }) => name === "XSRF-TOKEN")?.value ?? "";
      expect(token).to.have.lengthOf(64);

      for (const [how, target] of [
        ["/sign-out", token],
        ["/sign-out", ""],
      ] as const) {
        await page.goto(`${elsewhere.url}/post?to=${encodeURIComponent(url + how)}&token=${target}`);
        const [response] = await Promise.all([page.waitForResponse(`${url}${how}`), send(page, "button")]);
        expect(response.status()).to.equal(403);
      }
      await page.goto(url);
      expect(await nameOn(page)).to.equal("Ada");
    }));

  it("a link from another site arrives signed in with Lax, and signed out with Strict", async () => {
    for (const [config, name] of [
      [SessionConfig.pages(KEY), "Ada"],
      [new SessionConfig(KEY), "nobody"],
    ] as const)
      await opened(config, CsrfConfig.pages(), async (url) => {
        await signIn(page, url);
        await page.goto(`${elsewhere.url}/link?to=${encodeURIComponent(url)}`);
        await page.click("a");
        await page.waitForURL(`${url}/`);
        expect(await nameOn(page)).to.equal(name);
      });
  });
});
