/** People with a browser at the accounts of `samples/links`: by mail, by password, by a second step, by passkeys, on their devices, with tokens. */
import { Clock } from "@stagecraft/framework";
import { WorkerPageRenderer } from "@stagecraft/framework/pages";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { linksApplication } from "../../samples/links/application.js";
import { buildFrontEnd } from "../../samples/links/build-front-end.js";
import { linkPages, SERVER_BUNDLE } from "../../samples/links/front-end.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { showCode } from "../auth/second-step/second-step-application.js";
import { launchBrowser } from "../support/browser.js";
import { cheapPasswords } from "../support/cheap-passwords.js";
import { judgeResponses } from "../support/judged-responses.js";
import { needs } from "../support/machine.js";
import { describeLinks } from "../support/sample-documents.js";
import { addPerson, findMailPath, PASSWORD } from "../support/sample-people.js";
import { SampleVisitor } from "../support/sample-visitor.js";

const CONFIRM = "Confirm your address";
const NARROW = { width: 360, height: 740 };

/** The thread that renders has a clock that stands still: a busy machine takes longer for a page. */
const start = () =>
  testApp(
    linksApplication(settingsFrom({ REQUESTS_PER_SECOND: "1000" }), {
      pages: linkPages({
        mustRender: true,
        renderer: new WorkerPageRenderer({ bundle: SERVER_BUNDLE }, new FakeClock()),
      }),
    }),
    cheapPasswords(),
  );

describe("In a browser, the accounts of samples/links", function () {
  this.timeout(180_000);
  judgeResponses(describeLinks);
  let browser: Browser;
  let app: TestApp;

  before(needs("chromium"));
  before(async () => {
    [browser] = await Promise.all([launchBrowser(), buildFrontEnd()]);
  });
  after(() => browser?.close());
  // Attempts of a client are limited, so each test has an application of its own.
  beforeEach(async () => void (app = await start()));
  afterEach(() => app?.stop());

  /** Browsers have passkeys on `localhost`, and none for an IP address. */
  const visit = (options = {}) =>
    SampleVisitor.at(browser, app.url.replace("127.0.0.1", "localhost"), { reducedMotion: "reduce", ...options });

  /** A person who has an account, and has signed in. */
  const enter = async (visitor: SampleVisitor, name: string) => {
    await addPerson(app, `${name}@example.org`);
    await visitor.open("/account/sign-in");
    await visitor.signIn(name);
    await visitor.says("You have signed in.");
  };

  it("say where the mail is, and ask for the password of the sign-up on another device", async () => {
    await using ada = await visit();
    await using phone = await visit({ viewport: NARROW });
    const email = "ada@example.org";
    await ada.open("/account/sign-up");
    await ada.enter({ email, password: PASSWORD });
    await ada.submit();
    await ada.page.waitForSelector("text=This server sends no mails.");
    expect(await ada.page.getAttribute("main a", "href")).to.equal("/dev/mails");

    await phone.open(await findMailPath(app, email, CONFIRM));
    expect(await phone.page.textContent("main")).to.include(email);
    await phone.enter({ password: "another horse" });
    await phone.submit();
    expect(await phone.faults()).to.deep.equal({ password: "is not that of this sign-up" });
    await phone.enter({ password: PASSWORD });
    await phone.submit();

    await phone.says("You have signed in.");
    await expectNoBarrier(phone);
  });

  it("set a new password by a mail, which signs out everywhere and works once", async () => {
    await using ada = await visit();
    await using phone = await visit();
    await enter(phone, "ada");
    await ada.open("/account/sign-in");
    await ada.page.click("text=Set a new one");
    await ada.page.waitForSelector("h1:has-text('A new password')");
    await ada.enter({ email: "ada@example.org" });
    await ada.submit();
    await ada.page.waitForSelector("h1:has-text('A mail is on its way')");
    const link = await findMailPath(app, "ada@example.org", "Set a new password");

    await ada.open(link);
    await ada.enter({ password: "short" });
    await ada.submit();
    expect(await ada.faults()).to.deep.equal({ password: "at least 8 characters" });
    await ada.enter({ password: "battery staple" });
    await ada.submit();
    await ada.says("You have a new password. Sign in with it.");
    await ada.signIn("ada", "battery staple");
    await ada.says("You have signed in.");

    await phone.open("/account");
    expect(await phone.page.textContent("h1")).to.equal("Sign in");
    await phone.open(link);
    expect(await phone.page.textContent("h1")).to.equal("Sign in");
    await phone.says("That took too long, or the link was used already.");
  });

  it("lead from a page that asks for a sign-in to it, and back", async () => {
    await using ada = await visit();
    await addPerson(app, "ada@example.org");
    await ada.open("/account/tokens");
    await ada.page.waitForSelector("h1:has-text('Sign in')");

    await ada.signIn("ada");

    await ada.page.waitForSelector("h1:has-text('API tokens')");
  });

  it("have an app as second step, with codes for the day without it, each shown once", async () => {
    await using ada = await visit();
    const { page } = ada;
    const clock = app.resolve(Clock);
    await enter(ada, "ada");
    await ada.open("/account/security");
    await page.click("text=Add an app");
    await page.click("text=Show the key");
    const secret = new URL((await page.textContent(".secret a")) ?? "").searchParams.get("secret") ?? "";
    await expectNoBarrier(ada);

    await ada.enter({ code: "none" });
    await page.click("text=Add the app");
    expect(await ada.faults()).to.deep.equal({ code: "is not the code of now" });
    await ada.enter({ code: showCode(secret, clock) });
    await page.click("text=Add the app");
    await page.waitForSelector(".codes");
    const codes = await page.$$eval(".codes code", (all) => all.map(({ textContent }) => textContent ?? ""));
    expect(await page.textContent("main")).not.to.include(secret);
    await page.reload();
    await page.waitForSelector("h1:text-is('Security')");
    expect(await page.content()).not.to.include(codes[0]);
    await signOut(ada);

    await page.click("text=Sign in");
    await page.waitForSelector("h1:text-is('Sign in')");
    await ada.signIn("ada");
    await page.waitForSelector("h1:text-is('Second step')");
    await ada.enter({ code: "000000" });
    await ada.submit();
    expect(await ada.faults()).to.deep.equal({ code: "is wrong, or was used already" });
    await ada.enter({ code: (codes[0] ?? "").toUpperCase() });
    await ada.submit();
    await ada.says("You have signed in.");
    await ada.open("/account/security");
    expect(await page.textContent("main")).to.include("You have 9 recovery codes");
    await expectNoBarrier(ada);
  });

  it("work without scripts: a token, an app, and the sign-in with its code", async () => {
    await using ada = await visit({ javaScriptEnabled: false, viewport: NARROW });
    const { page } = ada;
    const clock = app.resolve(Clock);
    await addPerson(app, "ada@example.org");
    const go = (path: string) => page.goto(ada.url + path);
    await go("/account/tokens");
    await ada.signIn("ada");
    await page.waitForSelector("h1:text-is('API tokens')");

    await ada.enter({ name: "Backup" });
    await page.click("text=Make a token");
    expect(await page.textContent(".secret code")).to.match(/^links_/);
    await go("/account/totp");
    await page.click("text=Show the key");
    const secret = new URL((await page.textContent(".secret a")) ?? "").searchParams.get("secret") ?? "";
    await ada.enter({ code: "none" });
    await page.click("text=Add the app");
    expect(await ada.faults()).to.deep.equal({ code: "is not the code of now" });
    await ada.enter({ code: showCode(secret, clock) });
    await page.click("text=Add the app");
    expect(await page.locator(".codes li").count()).to.equal(10);
    await signOut(ada);
    await go("/account/security");
    await ada.signIn("ada");
    // The code of now was used for the first step.
    await ada.enter({ code: showCode(secret, clock, 1) });
    await ada.submit();

    await page.waitForSelector("h1:text-is('Security')");
    expect(await page.locator("text=Add to sign in").count()).to.equal(0);
  });

  it("sign in by a passkey, and take another one as second step", async () => {
    await using ada = await visit();
    const { page } = ada;
    const device = await page.context().newCDPSession(page);
    await device.send("WebAuthn.enable");
    const plug = async (transport: "internal" | "usb", isPhone: boolean) => {
      const { authenticatorId } = await device.send("WebAuthn.addVirtualAuthenticator", {
        options: {
          protocol: "ctap2",
          transport,
          hasResidentKey: isPhone,
          hasUserVerification: isPhone,
          isUserVerified: isPhone,
          automaticPresenceSimulation: true,
        },
      });
      return (enabled: boolean) => device.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled });
    };
    const addKey = async (name: string, button: string) => {
      await ada.enter({ name });
      await page.click(`text=${button}`);
      await ada.says("The passkey is added.");
    };
    await enter(ada, "ada");
    await ada.open("/account/security");

    const touchPhone = await plug("internal", true);
    await addKey("Phone", "Add to sign in");
    await touchPhone(false);
    const touchKey = await plug("usb", false);
    await addKey("Key", "Add as second step");
    expect(await page.textContent("main")).to.match(/Phone.*Signs you in.*Key.*Is your second step/s);
    await signOut(ada);
    await touchKey(false);
    await touchPhone(true);
    await page.click("text=Sign in");
    await page.click("text=Sign in with a passkey");
    await ada.says("You have signed in.");
    await signOut(ada);
    await touchPhone(false);
    await touchKey(true);
    await page.click("text=Sign in");
    await page.waitForSelector("h1:text-is('Sign in')");
    await ada.signIn("ada");
    await page.click("text=Use a passkey");

    await ada.says("You have signed in.");
  });

  it("list the devices, and sign out there and everywhere else", async () => {
    await using ada = await visit();
    await using phone = await visit({ viewport: NARROW });
    await using tablet = await visit();
    await enter(ada, "ada");
    for (const other of [phone, tablet]) {
      await other.open("/account/sign-in");
      await other.page.check("input[name=remember]");
      await other.signIn("ada");
      await other.says("You have signed in.");
    }
    await ada.page.click(".who");
    await ada.page.waitForSelector("h1:has-text('Your devices')");
    expect(await ada.page.locator(".row").count()).to.equal(3);
    expect(await ada.page.textContent(".row:first-child")).to.include("this one");
    expect(await ada.page.locator("text=stays signed in").count()).to.equal(2);
    // Its session has ended: a page that everybody may see opens the next one.
    await phone.context.clearCookies({ name: "framework-id" });
    await phone.open("/");
    expect(await phone.page.textContent(".who")).to.include("ada@example.org");
    await expectNoBarrier(ada);

    await ada.page.click("text=Sign out there >> nth=0");
    await ada.says("That device is signed out.");
    expect(await ada.page.locator(".row").count()).to.equal(2);
    await ada.page.click("text=Sign out on all other devices");
    await ada.says("All other devices are signed out.");

    for (const other of [phone, tablet]) {
      await other.open("/account");
      expect(await other.page.textContent("h1")).to.equal("Sign in");
    }
    expect(await ada.page.locator(".row").count()).to.equal(1);
  });

  it("give a program a token, whose text is shown once, until it is revoked", async () => {
    await using ada = await visit({ viewport: NARROW });
    const { page } = ada;
    await enter(ada, "ada");
    await ada.open("/account/tokens");
    await ada.enter({ name: " " });
    await page.click("text=Make a token");
    expect(await ada.faults()).to.deep.equal({ name: "a name, by which you know it again" });
    await ada.enter({ name: "Backup" });
    await page.selectOption("select[name=access]", "write");
    await page.click("text=Make a token");
    const authorization = `Bearer ${(await page.textContent(".secret code")) ?? ""}`;
    await expectNoBarrier(ada);
    const call = () => app.get("/api/own-links", { headers: { authorization } });

    expect((await call()).status).to.equal(200);
    await page.reload();
    await page.waitForSelector("text=Last used");
    expect(await page.locator(".secret").count()).to.equal(0);
    page.on("dialog", (dialog) => void dialog.accept());
    await page.click("text=Revoke");
    await ada.says("The token is revoked.");

    expect((await call()).status).to.equal(401);
  });
});

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
