/** People with a browser who sign in to `samples/links` at a provider: the test provider of `npm run dev`, over real sockets. */
import type { TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { buildFrontEnd } from "../../samples/links/build-front-end.js";
import { TestProvider } from "../../samples/links/test-provider.js";
import { launchBrowser } from "../support/browser.js";
import { judgeResponses } from "../support/judged-responses.js";
import { needs } from "../support/machine.js";
import { describeLinksWithProvider } from "../support/sample-documents.js";
import { addPerson } from "../support/sample-people.js";
import {
  cancelAtProvider,
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

const NARROW = { width: 360, height: 740 };

describe("In a browser, the sign-in of samples/links at a provider", function () {
  this.timeout(180_000);
  judgeResponses(describeLinksWithProvider);
  let browser: Browser;
  let provider: TestProvider;
  let app: TestApp;

  before(needs("chromium"));
  before(async () => {
    [browser, provider] = await Promise.all([launchBrowser(), TestProvider.start(), buildFrontEnd()]);
  });
  after(async () => {
    await browser?.close();
    await provider?.[Symbol.asyncDispose]();
  });
  // Attempts of a client are limited, so each test has an application of its own.
  beforeEach(async () => void (app = await startLinksWith(provider)));
  afterEach(() => app?.stop());

  /** The provider is on 127.0.0.1: another site to the browser, and another jar of cookies. */
  const visit = (options = {}) =>
    SampleVisitor.at(browser, app.url.replace("127.0.0.1", "localhost"), { reducedMotion: "reduce", ...options });

  it("signs a person up, and in again after the sign-out", async () => {
    await using ada = await visit();
    await ada.open("/account/sign-up");
    await expectNoBarrier(ada);
    await goToProvider(ada);
    await expectNoBarrier(ada);
    await signInAtProvider(ada, "ada");

    await ada.says(WELCOME);
    expect(await ada.page.textContent(".who")).to.include("ada@example.org");
    await signOut(ada);
    await enterByProvider(ada, "ada", SIGNED_IN);

    await ada.open("/account/linked");
    expect(await ada.page.locator(".row").count()).to.equal(1);
    await expectNoBarrier(ada);
  });

  it("works without scripts, and leads back to the page that has asked for the sign-in", async () => {
    await using ada = await visit({ javaScriptEnabled: false, viewport: NARROW });
    await ada.page.goto(`${ada.url}/account/tokens`);
    await goToProvider(ada);
    await signInAtProvider(ada, "ada");
    await ada.page.waitForSelector("h1:text-is('API tokens')");

    await ada.page.goto(`${ada.url}/account/linked`);
    await ada.page.click("button:has-text('Unlink')");

    await ada.says("This account is your only way to sign in. Set a password first.");
    expect(await ada.page.locator(".row").count()).to.equal(1);
  });

  it("links an account to that of a person who has a password, and unlinks it", async () => {
    await using ada = await visit({ viewport: NARROW });
    await using phone = await visit();
    const { page } = ada;
    await enterByPassword(app, ada, "ada");
    await phone.open("/account/sign-in");
    await phone.signIn("ada");
    await phone.says(SIGNED_IN);
    await page.click(".who");
    await page.click("text=Linked accounts");
    await page.waitForSelector("h1:text-is('Linked accounts')");
    await goToProvider(ada);
    await signInAtProvider(ada, "ada-at-work");
    await ada.says("The account is linked. Your other devices are signed out.");
    expect(await page.textContent(".row strong")).to.equal("ada-at-work@example.org");
    await expectNoBarrier(ada);
    await phone.open("/account");
    expect(await phone.page.textContent("h1")).to.equal("Sign in");
    await signOut(ada);
    await enterByProvider(ada, "ada-at-work", SIGNED_IN);
    expect(await page.textContent(".who")).to.include("ada@example.org");

    await ada.open("/account/linked");
    page.on("dialog", (dialog) => void dialog.accept());
    await page.click("button:has-text('Unlink')");
    await ada.says("The account is unlinked. Your other devices are signed out.");

    expect(await page.locator(".row").count()).to.equal(0);
  });

  it("refuses an account that another person has linked", async () => {
    await using ada = await visit();
    await enterByProvider(ada, "shared", WELCOME);
    await signOut(ada);
    await enterByPassword(app, ada, "ada");
    await ada.open("/account/linked");
    await goToProvider(ada);
    await signInAtProvider(ada, "shared");

    await ada.says("That account at Test Provider belongs to somebody else here.");
    expect(await ada.page.locator(".row").count()).to.equal(0);
  });

  it("asks a person whose address has an account to sign in to it, and leads to the page that links", async () => {
    await using ada = await visit();
    await addPerson(app, "ada@example.org");
    await enterByProvider(
      ada,
      "ada",
      "An account here has that address already. Sign in to it, and link it to Test Provider then.",
    );
    expect(await ada.page.textContent("h1")).to.equal("Sign in");
    await expectNoBarrier(ada);
    await ada.signIn("ada");
    await ada.page.waitForSelector("h1:text-is('Linked accounts')");
    await goToProvider(ada);
    await signInAtProvider(ada, "ada");
    await ada.says("The account is linked. Your other devices are signed out.");
  });

  it("tells nothing of an address that the provider has not verified", async () => {
    await using eve = await visit();
    await addPerson(app, "ada@example.org");

    for (const name of ["ada", "nobody"]) {
      await eve.open("/account/sign-in");
      await goToProvider(eve);
      await signInAtProvider(eve, name, false);
      await eve.says("Test Provider has not confirmed your address. Confirm it there, or sign up here.");
      expect(await eve.page.textContent("h1")).to.equal("Sign in");
      expect(await eve.page.locator(".who").count()).to.equal(0);
    }
  });

  it("leads a person who cancels back to where the person was", async () => {
    await using ada = await visit();
    await ada.open("/account/sign-up");
    await goToProvider(ada);
    await cancelAtProvider(ada);
    await ada.says("You have canceled, and nothing has changed.");
    expect(await ada.page.textContent("h1")).to.equal("Sign in");

    await enterByPassword(app, ada, "ada");
    await ada.open("/account/linked");
    await goToProvider(ada);
    await cancelAtProvider(ada);
    await ada.says("You have canceled, and nothing has changed.");
    expect(await ada.page.textContent("h1")).to.equal("Linked accounts");
  });

  it("survives the back button, before the sign-in and after it", async () => {
    await using ada = await visit();
    const { page } = ada;
    await ada.open("/account/sign-in");
    await goToProvider(ada);
    await page.goBack();
    await page.waitForSelector("h1:text-is('Sign in')");
    await page.goForward();
    await signInAtProvider(ada, "ada");
    await ada.says(WELCOME);

    await page.goBack();
    await page.waitForSelector("h1:text-is('This sign-in is over')");
    await page.goBack();
    await page.waitForSelector("h1:text-is('Sign in')");

    await ada.open();
    expect(await page.textContent(".who")).to.include("ada@example.org");
  });

  it("works in two tabs at once, and does nothing for a person who has signed out in the other tab", async () => {
    await using ada = await visit();
    const { page, context } = ada;
    await ada.open("/account/sign-in");
    const other = await context.newPage();
    await other.goto(`${ada.url}/account/sign-in`);
    await goToProvider(ada);
    await other.click("a:has-text('Test Provider')");
    await waitForProvider(other);
    await signInAtProvider(ada, "ada");
    await ada.says(WELCOME);
    await other.fill("input[name=name]", "ada");
    await other.click("button.main");
    await other.waitForSelector(".who");

    await ada.open("/account/linked");
    await goToProvider(ada);
    await other.click("text=Sign out >> nth=0");
    await other.waitForSelector("text=You have signed out.");
    await signInAtProvider(ada, "another");

    await ada.says("That took too long, or was done already. Start again.");
    expect(await page.textContent("h1")).to.equal("Sign in");
  });
});

/** Of light and dark. The style sheet tells them apart by colours alone. */
async function expectNoBarrier(visitor: SampleVisitor): Promise<void> {
  expect(await visitor.barriers()).to.deep.equal([]);
  await visitor.page.emulateMedia({ colorScheme: "dark" });
  expect(await visitor.barriers("of colours")).to.deep.equal([]);
  await visitor.page.emulateMedia({ colorScheme: "light" });
}
