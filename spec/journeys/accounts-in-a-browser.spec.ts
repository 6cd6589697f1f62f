/** Accounts in Chromium: the mails that a person and other programs open, several browsers and tabs of one person, and what stays in a browser. */
import { Controller, type ContextOf, Get, inject, Post, Reply, routes } from "@stagecraft/framework";
import { SignIns } from "@stagecraft/framework/auth";
import { signedIn } from "@stagecraft/framework/auth/guards";
import { FakeClock, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { account, addPerson, mailsOf, PASSWORD, startAccounts } from "../auth/account-application.js";
import { launchBrowser } from "../support/browser.js";
import { needs } from "../support/machine.js";

const EMAIL = "ada@shop.example";

const home = routes("home", "/home", {
  show: Get("/", { guards: [signedIn] }),
  endOthers: Post("/others", { guards: [signedIn] }),
});

@Controller(home)
class HomeController {
  private readonly signIns = inject(SignIns);

  @home.show show({ identity }: ContextOf<typeof home.show>) {
    return Reply.html(`<!doctype html><link rel="icon" href="data:,"><h1>${identity.email}</h1>`);
  }

  @home.endOthers async endOthers(ctx: ContextOf<typeof home.endOthers>) {
    await this.signIns.endOthers(ctx);
    return Reply.noContent();
  }
}

interface Answer {
  readonly status: number;
  readonly kind: string | undefined;
}

/** Posts as a script of the page does, to its URL unless another one is given. */
function post(page: Page, body: object = {}, path = ""): Promise<Answer> {
  return page.evaluate(
    async ([url, text]) => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(url === "" ? location.href : url, { method: "POST", body: text, headers });
      const json = response.headers.get("content-type")?.includes("json") === true ? await response.json() : {};
      return { status: response.status, kind: (json as { kind?: string }).kind };
    },
    [path, JSON.stringify(body)] as const,
  );
}

const signIn = (page: Page, more = {}) =>
  post(page, { email: EMAIL, password: PASSWORD, ...more }, account.signIn.url());

describe("accounts in Chromium", function () {
  this.timeout(180_000);
  let browser: Browser;
  let contexts: BrowserContext[] = [];
  let app: TestApp;
  let clock: FakeClock;

  before(needs("chromium"));
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser?.close());
  beforeEach(async () => {
    clock = new FakeClock();
    app = await startAccounts({ clock, controllers: [HomeController] });
  });
  afterEach(async () => {
    for (const context of contexts) await context.close();
    contexts = [];
    await app.stop();
  });

  /** The page of the sign-in, in a browser of its own. */
  async function open(): Promise<Page> {
    const context = await browser.newContext();
    contexts.push(context);
    const page = await context.newPage();
    await page.goto(app.url + account.signInPage.url());
    return page;
  }

  async function findLink(count: number): Promise<string> {
    return app.url + ((await mailsOf(app, count)).at(-1)?.link ?? "");
  }

  async function isSignedIn(page: Page): Promise<boolean> {
    await page.goto(app.url + home.show.url());
    return (await page.locator("h1").count()) === 1;
  }

  it("confirm a sign-up in the browser of the sign-up by the link alone", async () => {
    const page = await open();
    await post(page, { email: EMAIL, password: PASSWORD }, account.signUp.url());
    await page.goto(await findLink(1));

    expect(await page.textContent("body")).to.include('"needsPassword":false');
    expect(await post(page)).to.deep.equal({ status: 200, kind: "signed-in" });
    expect(await isSignedIn(page)).to.equal(true);
  });

  it("confirm a sign-up in another browser by the link and its password, and sign in there alone", async () => {
    const [page, other] = [await open(), await open()];
    await post(page, { email: EMAIL, password: PASSWORD }, account.signUp.url());
    await other.goto(await findLink(1));

    expect((await post(other)).kind).to.equal("password-needed");
    expect((await post(other, { password: PASSWORD })).kind).to.equal("signed-in");
    expect([await isSignedIn(other), await isSignedIn(page)]).to.deep.equal([true, false]);
  });

  it("keep a magic link for its person, whatever opens it before", async () => {
    await addPerson(app, "ada");
    const [page, scanner] = [await open(), await open()];
    await post(page, { email: EMAIL }, account.link.url());
    const link = await findLink(1);
    const path = link.slice(app.url.length);
    expect((await app.head(path)).status).to.equal(200);
    expect((await app.get(path)).status).to.equal(200);
    await scanner.goto(link);
    expect(await isSignedIn(scanner)).to.equal(false);
    await page.goto(link);

    expect((await post(page)).kind).to.equal("signed-in");
    expect(await isSignedIn(page)).to.equal(true);
    await scanner.goto(link);
    expect((await post(scanner)).kind).to.equal("expired");
  });

  it("sign out on all other browsers of a person", async () => {
    await addPerson(app, "ada");
    const [page, other] = [await open(), await open()];
    await signIn(page);
    await signIn(other, { remember: true });
    expect(await isSignedIn(other)).to.equal(true);

    await isSignedIn(page);
    expect((await post(page, {}, home.endOthers.url())).status).to.equal(204);

    expect([await isSignedIn(page), await isSignedIn(other)]).to.deep.equal([true, false]);
  });

  it("stay signed in by remember-me in ten tabs at once, when the session is gone", async () => {
    await addPerson(app, "ada");
    const page = await open();
    await signIn(page, { remember: true });
    const context = page.context();
    await context.clearCookies({ name: "framework-id" });
    clock.advance(120_000);
    const tabs = await Promise.all(Array.from({ length: 10 }, () => context.newPage()));

    const statuses = await Promise.all(tabs.map(async (tab) => (await tab.goto(app.url + home.show.url()))?.url()));

    expect(new Set(statuses)).to.deep.equal(new Set([app.url + home.show.url()]));
    await context.clearCookies({ name: "framework-id" });
    clock.advance(120_000);
    expect(await isSignedIn(page)).to.equal(true);
  });

  it("lead a visitor to the sign-in, and back to where they were", async () => {
    await addPerson(app, "ada");
    const page = await open();
    await page.goto(`${app.url}${home.show.url()}?tab=2`);
    expect(new URL(page.url()).pathname).to.equal(account.signInPage.url());
    await signIn(page);

    const path = await page.evaluate(
      async (url) => ((await (await fetch(url)).json()) as { path: string }).path,
      account.back.url(),
    );
    await page.goto(app.url + path);

    expect(page.url()).to.equal(`${app.url}${home.show.url()}?tab=2`);
    expect(await page.textContent("h1")).to.equal(EMAIL);
  });

  it("show nothing of a person behind the back button, after a sign-out", async () => {
    await addPerson(app, "ada");
    const page = await open();
    await signIn(page);
    expect(await isSignedIn(page)).to.equal(true);
    expect((await post(page, {}, account.signOut.url())).status).to.equal(204);
    await page.goto(app.url + account.signInPage.url());

    await page.goBack();

    expect(await page.content()).to.not.include(EMAIL);
    expect(new URL(page.url()).pathname).to.equal(account.signInPage.url());
  });
});
