/** What a person at the provider of `samples/links` gives besides: a second step, and a confirmation after a quarter of an hour. */
import { FakeClock, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { buildFrontEnd } from "../../samples/links/build-front-end.js";
import { TestProvider } from "../../samples/links/test-provider.js";
import { showCode } from "../auth/second-step/second-step-application.js";
import { launchBrowser } from "../support/browser.js";
import { needs } from "../support/machine.js";
import { findMailPath, PASSWORD } from "../support/sample-people.js";
import {
  enterByPassword,
  enterByProvider,
  goToProvider,
  SIGNED_IN,
  signInAtProvider,
  signOut,
  startLinksWith,
  waitForProvider,
  WELCOME,
} from "../support/sample-provider.js";
import { SampleVisitor } from "../support/sample-visitor.js";

const QUARTER_MS = 15 * 60_000;

describe("In a browser, a person at the provider of samples/links", function () {
  this.timeout(180_000);
  let browser: Browser;
  let provider: TestProvider;
  let clock: FakeClock;
  let app: TestApp;

  before(needs("chromium"));
  before(async () => {
    [browser] = await Promise.all([launchBrowser(), buildFrontEnd()]);
  });
  after(() => browser?.close());
  beforeEach(async () => {
    clock = new FakeClock(Date.now());
    provider = await TestProvider.start();
    app = await startLinksWith(provider, clock);
  });
  afterEach(async () => {
    await app?.stop();
    await provider?.[Symbol.asyncDispose]();
  });

  const visit = (options = {}) =>
    SampleVisitor.at(browser, app.url.replace("127.0.0.1", "localhost"), { reducedMotion: "reduce", ...options });

  it("without a password signs in again before a careful page, and gets to it", async () => {
    await using ada = await visit();
    await enterByProvider(ada, "ada", WELCOME);
    clock.advance(QUARTER_MS);
    await ada.open("/account/security");
    await ada.page.waitForSelector("h1:text-is('Sign in again')");
    expect(await ada.barriers()).to.deep.equal([]);

    await goToProvider(ada);
    await signInAtProvider(ada, "ada");

    await ada.page.waitForSelector("h1:text-is('Security')");
  });

  it("without a password sets one by a mail, and may unlink the account then", async () => {
    await using ada = await visit();
    const { page } = ada;
    page.on("dialog", (dialog) => void dialog.accept());
    await enterByProvider(ada, "ada", WELCOME);
    await ada.open("/account/linked");
    await page.click("button:has-text('Unlink')");
    await ada.says("This account is your only way to sign in. Set a password first.");
    await page.click("text=Set one");
    await page.waitForSelector("h1:text-is('A new password')");
    await ada.enter({ email: "ada@example.org" });
    await ada.submit();
    await page.waitForSelector("h1:text-is('A mail is on its way')");
    await ada.open(await findMailPath(app, "ada@example.org", "Set a new password"));
    await ada.enter({ password: PASSWORD });
    await ada.submit();
    await ada.says("You have a new password. Sign in with it.");
    await ada.signIn("ada");
    await ada.says(SIGNED_IN);
    await ada.open("/account/linked");

    await page.click("button:has-text('Unlink')");

    await ada.says("The account is unlinked. Your other devices are signed out.");
    expect(await page.locator(".row, .note-box").count()).to.equal(0);
  });

  it("with a password gives it before a link that comes late, and gets to the provider", async () => {
    await using ada = await visit();
    await enterByPassword(app, ada, "ada");
    await ada.open("/account/linked");
    clock.advance(QUARTER_MS);
    await ada.page.click("a:has-text('Test Provider')");
    await ada.page.waitForSelector("h1:text-is('Your password again')");

    await ada.enter({ password: PASSWORD });
    await ada.submit();
    await waitForProvider(ada.page);
    await signInAtProvider(ada, "ada-at-work");

    await ada.says("The account is linked. Your other devices are signed out.");
  });

  it("gives the code of the app after the sign-in there", async () => {
    await using ada = await visit();
    const { page } = ada;
    await enterByProvider(ada, "ada", WELCOME);
    await ada.open("/account/totp");
    await page.click("text=Show the key");
    const secret = new URL((await page.textContent(".secret a")) ?? "").searchParams.get("secret") ?? "";
    await ada.enter({ code: showCode(secret, clock) });
    await page.click("text=Add the app");
    await page.waitForSelector(".codes");
    await signOut(ada);
    await ada.open("/account/tokens");
    await goToProvider(ada);
    await signInAtProvider(ada, "ada");
    await page.waitForSelector("h1:text-is('Second step')");
    expect(await page.textContent("main")).to.include("One step is left: the code of your app.");

    clock.advance(30_000);
    await ada.enter({ code: showCode(secret, clock) });
    await ada.submit();

    await ada.says(SIGNED_IN);
    await page.waitForSelector("h1:text-is('API tokens')");
  });

  it("stays at the sign-in, with a message, while the provider is down", async () => {
    await using ada = await visit();
    await ada.open("/account/sign-in");
    await provider[Symbol.asyncDispose]();
    await ada.page.click("a:has-text('Test Provider')");

    await ada.says("Test Provider does not respond. Try again in a few minutes.");
    expect(await ada.page.textContent("h1")).to.equal("Sign in");
  });
});
