/** People with a browser who sign in to `samples/links` at a provider: the test provider of `npm run dev`, over real sockets. */
import { WorkerPageRenderer } from "@stagecraft/framework/pages";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { providerPart } from "../../samples/links/accounts/provider/provider.module.js";
import { linksApplication } from "../../samples/links/application.js";
import { buildFrontEnd } from "../../samples/links/build-front-end.js";
import { linkPages, SERVER_BUNDLE } from "../../samples/links/front-end.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { TestProvider } from "../../samples/links/test-provider.js";
import { launchBrowser } from "../support/browser.js";
import { cheapPasswords } from "../support/cheap-passwords.js";
import { judgeResponses } from "../support/judged-responses.js";
import { needs } from "../support/machine.js";
import { describeLinksWithProvider } from "../support/sample-documents.js";
import { addPerson } from "../support/sample-people.js";
import { SampleVisitor } from "../support/sample-visitor.js";

const AT_PROVIDER = "h1:text-is('Sign in at the test provider')";
const NARROW = { width: 360, height: 740 };

/** The thread that renders has a clock that stands still: a busy machine takes longer for a page. */
function start(provider: TestProvider): Promise<TestApp> {
  const settings = settingsFrom({ ...provider.variables, REQUESTS_PER_SECOND: "1000" });
  const renderer = new WorkerPageRenderer({ bundle: SERVER_BUNDLE }, new FakeClock());
  const application = linksApplication(settings, {
    pages: linkPages({ mustRender: true, renderer }),
    provider: settings.provider && providerPart(settings.provider),
  });
  return testApp(application, cheapPasswords());
}

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
  beforeEach(async () => void (app = await start(provider)));
  afterEach(() => app?.stop());

  /** The provider is on 127.0.0.1: another site to the browser, and another jar of cookies. */
  const visit = (options = {}) =>
    SampleVisitor.at(browser, app.url.replace("127.0.0.1", "localhost"), { reducedMotion: "reduce", ...options });

  /** A person who has an account with a password, and has signed in. */
  const enter = async (visitor: SampleVisitor, name: string) => {
    await addPerson(app, `${name}@example.org`);
    await visitor.open("/account/sign-in");
    await visitor.signIn(name);
    await visitor.says("You have signed in.");
  };

  it("signs a person up, and in again after the sign-out", async () => {
    await using ada = await visit();
    await ada.open("/account/sign-up");
    await expectNoBarrier(ada);
    await ada.page.click("text=Sign up with the test provider");
    await signInAt(ada, "ada");

    await ada.says("Welcome. You have an account now.");
    expect(await ada.page.textContent(".who")).to.include("ada@example.org");
    await signOut(ada);
    await ada.page.click("text=Sign in");
    await ada.page.click("text=Sign in with the test provider");
    await signInAt(ada, "ada");

    await ada.says("You have signed in.");
    await ada.open("/account/linked");
    expect(await ada.page.locator(".row").count()).to.equal(1);
    await expectNoBarrier(ada);
  });

  it("leads back to the page that has asked for the sign-in", async () => {
    await using ada = await visit({ viewport: NARROW });
    await ada.open("/account/tokens");
    await ada.page.click("text=Sign in with the test provider");
    await signInAt(ada, "ada");

    await ada.page.waitForSelector("h1:text-is('API tokens')");
  });

  it("links an account to that of a person who has a password, and unlinks it", async () => {
    await using ada = await visit({ viewport: NARROW });
    const { page } = ada;
    await enter(ada, "ada");
    await page.click(".who");
    await page.click("text=Linked accounts");
    await page.click("text=Link your account at the test provider");
    await signInAt(ada, "ada-at-work");
    await ada.says("The account is linked. Your other devices are signed out.");
    expect(await page.textContent(".row strong")).to.equal("ada-at-work@example.org");
    await expectNoBarrier(ada);
    await signOut(ada);
    await page.click("text=Sign in");
    await page.click("text=Sign in with the test provider");
    await signInAt(ada, "ada-at-work");
    await ada.says("You have signed in.");
    expect(await page.textContent(".who")).to.include("ada@example.org");

    await ada.open("/account/linked");
    page.on("dialog", (dialog) => void dialog.accept());
    await page.click("button:has-text('Unlink')");
    await ada.says("The account is unlinked. Your other devices are signed out.");

    expect(await page.locator(".row").count()).to.equal(0);
  });
});

async function signInAt({ page }: SampleVisitor, name: string, isVerified = true): Promise<void> {
  await page.waitForSelector(AT_PROVIDER);
  await page.fill("input[name=name]", name);
  await page.setChecked("input[name=verified]", isVerified);
  await page.click("text=Sign in >> nth=-1");
}

async function signOut(visitor: SampleVisitor): Promise<void> {
  await visitor.page.click("text=Sign out >> nth=0");
  await visitor.says("You have signed out.");
}

/** Of light and dark. The style sheet tells them apart by colours alone. */
async function expectNoBarrier(visitor: SampleVisitor): Promise<void> {
  expect(await visitor.barriers()).to.deep.equal([]);
  await visitor.page.emulateMedia({ colorScheme: "dark" });
  expect(await visitor.barriers("of colours")).to.deep.equal([]);
  await visitor.page.emulateMedia({ colorScheme: "light" });
}
