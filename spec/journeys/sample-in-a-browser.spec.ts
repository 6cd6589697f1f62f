/** People with a browser at the built sample: links, forms, the way back, other tabs, and the corners where front ends break. */
import { Application, Reply, Route, Routes } from "@stagecraft/framework";
import { WorkerPageRenderer } from "@stagecraft/framework/pages";
import { MemorySessionStore } from "@stagecraft/framework/session";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser, Page, Route as Intercepted } from "playwright-core";
import { linksApplication } from "../../samples/links/application.js";
import { buildFrontEnd } from "../../samples/links/build-front-end.js";
import { linkPages, SERVER_BUNDLE } from "../../samples/links/front-end.js";
import { LinkStore } from "../../samples/links/link-store.js";
import { sessions } from "../../samples/links/sessions.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { cheapPasswords } from "../support/cheap-passwords.js";
import { launchBrowser } from "../support/browser.js";
import { Gate } from "../support/gate.js";
import { needs } from "../support/machine.js";
import { SAMPLE_JOURNEYS } from "../support/sample-journeys.js";
import { addPerson, findMailPath, PASSWORD } from "../support/sample-people.js";
import { SampleVisitor } from "../support/sample-visitor.js";
import { until } from "../support/until.js";
import { judgeResponses } from "../support/judged-responses.js";
import { describeLinks } from "../support/sample-documents.js";

const ADMIN = "root@example.org";
/** One pixel, as a PNG in base64. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const TARGET = "https://example.com/a?b=<c>&d";

/** The style sheet tells light from dark only by colours, so the other rules find the same in both. */
const THEMES = [
  ["light", "all"],
  ["dark", "of colours"],
] as const;

/** Its clock stands still: a busy machine takes longer for a page, and for the bundle, than a server may. */
const patient = () => new WorkerPageRenderer({ bundle: SERVER_BUNDLE }, new FakeClock());

const sessionStore = new MemorySessionStore();
const endAllSessions = () => sessionStore.sweepExpired(Number.POSITIVE_INFINITY);

const start = (options: Parameters<typeof linkPages>[0] = {}) =>
  testApp(
    linksApplication(settingsFrom({ ADMINS: `${ADMIN},lee@example.org`, REQUESTS_PER_SECOND: "1000" }), {
      sessions: { ...sessions(), store: sessionStore },
      pages: linkPages({ mustRender: true, renderer: patient(), ...options }),
    }),
    cheapPasswords(),
  );

describe("In a browser, samples/links", function () {
  this.timeout(180_000);
  let browser: Browser;
  let app: TestApp;
  let store: LinkStore;
  /** One person after the other at the same browser: a new profile costs more than most tests. */
  let ada: SampleVisitor;

  /** Leads an administrator to their page, by the sign-in. */
  const signInAsAdmin = async (person: SampleVisitor) => {
    await addPerson(app, ADMIN);
    await person.open("/admin");
    await person.signIn("root");
    await person.page.waitForSelector("#switch");
  };

  const visitor = (...options: readonly Parameters<Browser["newContext"]>[0][]) =>
    SampleVisitor.at(browser, app.url, ...options);

  before(needs("chromium"));
  before(async () => {
    [browser] = await Promise.all([launchBrowser(), buildFrontEnd()]);
    app = await start();
    store = app.resolve(LinkStore);
    ada = await visitor();
  });
  // Each is closed also where another fails, because an open browser keeps the process alive. The hooks after one that fails do not run.
  after(async () => {
    await using _app = app;
    await using _browser = browser;
    await using _ada = ada;
  });
  judgeResponses(describeLinks);
  beforeEach(async () => {
    for (const { slug } of await store.list({ count: 1000 })) await store.remove(slug);
  });
  afterEach(() => ada.nextPerson());

  for (const [title, journey] of SAMPLE_JOURNEYS) it(title, () => ada.goes(journey));

  it("follows a link of the list, and sees the visit by day", async () => {
    const there = new Routes([
      Route.get("/there", () => Reply.html(`<title>There</title><link rel="icon" href="data:,">`)),
    ]);
    await using elsewhere = await testApp(Application.create().routes(there));
    const { page } = ada;
    await ada.open();
    expect(await page.textContent("main")).to.include("No links yet");
    await store.add("my-link", `${elsewhere.url}/there`);
    await ada.open();

    await page.click("a[href='/to/my-link']");
    await page.waitForURL(`${elsewhere.url}/there`);
    expect(await page.title()).to.equal("There");
    // A job counts it.
    await until(async () => (await store.totals()).visits === 1);
    await ada.open();
    await page.click("text=Details");
    await page.waitForSelector("figure.chart");
    expect(await page.textContent("#visits")).to.equal("1");
    expect(await page.textContent("tbody tr:last-child td")).to.equal("1");
  });

  it("leads the keyboard to the new page, and past the navigation", async () => {
    const { page } = ada;
    const focuses = (id: string) => page.waitForFunction((wanted) => document.activeElement?.id === wanted, id);
    await ada.open();

    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await focuses("main");
    await page.click("text=I have an account");
    await page.waitForSelector("h1:has-text('Sign in')");
    await focuses("main");
  });

  it("searches while the reader types, with the number of all links in its place", async () => {
    for (const slug of ["apple", "pear", "apple-pie"]) await store.add(slug, TARGET);
    await ada.open();

    await ada.page.fill("input[name=q]", "apple");
    await ada.page.waitForFunction(() => document.querySelectorAll(".row").length === 2);
    await ada.page.waitForURL(`${app.url}/?q=apple`);
    await ada.page.fill("input[name=q]", "no such");
    await ada.page.waitForSelector("text=Nothing matches");

    expect(await ada.page.textContent("#all")).to.equal("3 links");
    expect(ada.documents).to.deep.equal(["/"]);
  });

  it("gives a picture to a link, and says at the field that a file is not a picture", async () => {
    const { page } = ada;
    await ada.signUp("painter");
    await ada.shorten(TARGET, "pictured");
    await page.click("[aria-label='Details of pictured']");

    await page.setInputFiles("input[type=file]", logo("<script>"));
    await page.click("text=Upload");
    expect(await ada.faults()).to.deep.equal({ logo: "a PNG, JPEG, GIF or WebP picture" });
    await page.setInputFiles("input[type=file]", logo(Buffer.from(PIXEL, "base64")));
    await page.click("text=Upload");
    await ada.says("The link pictured has a picture.");

    await page.waitForFunction(() => (document.querySelector<HTMLImageElement>("img.picture")?.naturalWidth ?? 0) > 0);
    expect(ada.documents).to.have.length(2);
  });

  it("asks people to sign in again when the server has ended their session", async () => {
    await ada.signUp("lou");
    endAllSessions();

    await ada.shorten(TARGET, "too-late");
    await ada.page.waitForSelector("h1:has-text('Sign in')");
    await ada.signIn("lou");

    await ada.says("You have signed in.");
    expect(ada.documents).to.have.length(2);
  });

  it("keeps the sign-in of another tab when a response for the session before comes after it", async () => {
    await store.add("slow", TARGET);
    await ada.signUp("max");
    const [asked, goOn] = [new Gate(), new Gate()];
    const visitsByDay = store.visitsByDay.bind(store);
    store.visitsByDay = async (slug) => {
      asked.open();
      await goOn.passed;
      return visitsByDay(slug);
    };
    await ada.page.click(".brand");
    await ada.page.click("text=Details");
    await asked.passed;

    const second = await ada.context.newPage();
    await second.goto(app.url);
    await signInAgain(second, "max");
    goOn.open();
    store.visitsByDay = visitsByDay;
    // A page behind another one is painted once a second.
    await ada.page.bringToFront();
    await ada.page.waitForSelector("figure.chart");
    await ada.page.click(".brand");
    await ada.shorten(TARGET, "still-there");

    await ada.says("The link still-there is ready.");
  });

  it("lets a tab that was open before go on with the new session after a sign-in in another one", async () => {
    await ada.signUp("kim");
    const second = await ada.context.newPage();
    await second.goto(app.url);
    await signInAgain(second, "kim");
    await ada.page.bringToFront();

    await ada.shorten(TARGET, "from-the-first-tab");

    await ada.says("The link from-the-first-tab is ready.");
  });

  it("loads the page anew when the assets have another version", async () => {
    await using next = await start({ version: "next" });
    await ada.open();
    await ada.page.route(`${app.url}/**`, (route) => fetchFrom(next.url, app.url, route));

    await ada.page.click("text=I have an account");
    await ada.page.waitForSelector("h1:has-text('Sign in')");

    expect(ada.documents).to.deep.equal(["/", "/account/sign-in"]);
  });

  it("shows errors as pages: in the same document, as a document, and while the site is closed", async () => {
    await store.add("gone", TARGET);
    const { page } = ada;
    await ada.open();
    await store.remove("gone");
    await page.click("text=Details");
    await page.waitForSelector("h1:has-text('Not found')");
    expect(ada.documents).to.deep.equal(["/"]);
    await ada.open("/nowhere");
    expect(await page.title()).to.equal("Not found · Links");

    await signInAsAdmin(ada);
    await page.click("text=Close the site");
    await ada.says("The site is closed. Visitors see a page that says so.");
    await page.click(".brand");
    await page.waitForSelector("h1:has-text('Back in a moment')");
    await ada.open("/admin");
    await page.click("text=Open the site");
    await ada.says("The site is open again.");
  });

  it("asks operators before it removes a link of somebody", async () => {
    await store.add("of-somebody", TARGET);
    const questions: string[] = [];
    ada.page.on("dialog", (dialog) => {
      questions.push(dialog.message());
      void (questions.length === 1 ? dialog.dismiss() : dialog.accept());
    });
    await signInAsAdmin(ada);

    await ada.page.click(".row button");
    expect(await store.find("of-somebody")).to.have.property("target", TARGET);
    await ada.page.click(".row button");
    await ada.says("The link of-somebody is removed.");

    expect(questions).to.have.length(2);
    expect(questions[0]).to.include("Remove of-somebody?");
  });

  it("serves a telephone without scripts: reading, refused and accepted forms, and signing out", async () => {
    await store.add("read-me", TARGET);
    await using eve = await visitor({ javaScriptEnabled: false, viewport: { width: 360, height: 640 } });
    const { page } = eve;
    await page.goto(app.url);
    expect(await page.title()).to.equal("Links");
    expect(await page.textContent(".row"))
      .to.include("read-me")
      .and.include(TARGET);

    await page.click("text=Sign up");
    await eve.enter({ email: "EVE!", password: "short" });
    await eve.submit();
    expect(await eve.faults()).to.have.all.keys("email", "password");
    expect([
      await page.inputValue("main input[name=email]"),
      await page.inputValue("main input[name=password]"),
    ]).to.deep.equal(["EVE!", ""]);
    await eve.enter({ email: "eve@example.org", password: "correct horse" });
    await eve.submit();
    await page.goto(app.url + (await findMailPath(app, "eve@example.org", "Confirm your address")));
    await eve.submit();
    await eve.says("You have signed in.");
    await eve.shorten(TARGET, "by-hand");
    await eve.says("The link by-hand is ready.");
    await page.click("text=Sign out");
    await eve.says("You have signed out.");
  });

  it("has no barriers on any page, in light and dark, on a telephone and on a desk", async () => {
    for (let at = 1; at <= 25; at++) await store.add(`link-${at}`, `${TARGET}&${"long".repeat(50)}`);
    await using lee = await visitor({ reducedMotion: "reduce" });
    const { page } = lee;
    const found: string[] = [];
    const inspect = async () => {
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        for (const [colorScheme, rules] of THEMES) {
          await page.emulateMedia({ colorScheme });
          found.push(...(await lee.barriers(rules)).map((each) => `${colorScheme} ${width} ${each}`));
        }
      }
    };

    // By links, in one document: it loads axe once.
    await lee.open();
    await inspect();
    // Axe inspects every element, and a further row has no other elements than the first.
    for (let at = 3; at <= 25; at++) await store.remove(`link-${at}`);
    await page.click("nav >> text=Sign up");
    await page.waitForSelector("h1:has-text('Sign up')");
    await lee.enter({ email: "X", password: "short" });
    await lee.submit();
    await lee.faults();
    await inspect();
    expect(lee.documents).to.deep.equal(["/"]);
    await lee.signUp("lee");
    lee.documents.length = 0;
    await lee.shorten(TARGET, "barrier-free");
    await lee.says("The link barrier-free is ready.");
    await inspect();
    await page.click("[aria-label='Details of barrier-free']");
    await page.waitForSelector("figure.chart");
    await page.click("summary");
    await inspect();
    await page.click("footer >> text=Most visited");
    await page.waitForSelector("h1:has-text('Most visited')");
    await inspect();
    await page.click("footer >> text=Administration");
    await page.waitForSelector("#switch");
    await inspect();
    expect(lee.documents).to.deep.equal([]);
    await lee.open("/nowhere");
    await inspect();

    expect(found).to.deep.equal([]);
  });
});

/** Signs out and in, in one document: what is typed before the front end has started could be lost. */
async function signInAgain(page: Page, name: string): Promise<void> {
  await page.waitForSelector("#app[data-started]");
  await page.click("text=Sign out");
  await page.click("text=Sign in");
  await page.fill("input[name=email]", `${name}@example.org`);
  await page.fill("input[name=password]", PASSWORD);
  await page.click("main form button:not([type])");
  await page.waitForSelector("text=You have signed in.");
}

function logo(content: string | Buffer) {
  return { name: "logo.png", mimeType: "image/png", buffer: Buffer.from(content) };
}

/** The response of another server: as if the server had been replaced by one with new assets. */
async function fetchFrom(other: string, own: string, route: Intercepted): Promise<void> {
  const request = route.request();
  const url = request.url().replace(own, other);
  const response = await fetch(url, { headers: await request.allHeaders(), redirect: "manual" });
  const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== "content-encoding"));
  await route.fulfill({ status: response.status, headers, body: Buffer.from(await response.arrayBuffer()) });
}
