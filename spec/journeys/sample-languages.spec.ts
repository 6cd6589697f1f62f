/** People with a browser at `samples/links` in two languages: the choice, with and without scripts, in two tabs, and every page in German. */
import { WorkerPageRenderer } from "@stagecraft/framework/pages";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { linksApplication } from "../../samples/links/application.js";
import { buildFrontEnd } from "../../samples/links/build-front-end.js";
import { linkPages, SERVER_BUNDLE } from "../../samples/links/front-end.js";
import { LinkStore } from "../../samples/links/link-store.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { launchBrowser } from "../support/browser.js";
import { cheapPasswords } from "../support/cheap-passwords.js";
import { judgeResponses } from "../support/judged-responses.js";
import { needs } from "../support/machine.js";
import { describeLinks } from "../support/sample-documents.js";
import { addPerson, findMailPath, PASSWORD } from "../support/sample-people.js";
import { SampleVisitor } from "../support/sample-visitor.js";

const ADMIN = "ada@example.org";
const NARROW = { width: 360, height: 740 };

/** The clock of the thread that renders stands still: a busy machine takes longer for a page. */
const patient = () => new WorkerPageRenderer({ bundle: SERVER_BUNDLE }, new FakeClock());

/** The name of a message, where its text is missing. */
const NAME = /\b(?:page|flash|field)-[a-z][a-z-]+/;

const titled = ({ page }: SampleVisitor, title: string) => page.waitForSelector(`h1:has-text("${title}")`);
const langOf = ({ page }: SampleVisitor) => page.evaluate(() => document.documentElement.lang);

describe("In a browser, samples/links in two languages", function () {
  this.timeout(180_000);
  judgeResponses(describeLinks);
  let browser: Browser;
  let app: TestApp;

  before(needs("chromium"));
  before(async () => {
    [browser] = await Promise.all([launchBrowser(), buildFrontEnd()]);
  });
  after(() => browser?.close());
  beforeEach(async () => {
    app = await testApp(
      linksApplication(settingsFrom({ ADMINS: ADMIN, REQUESTS_PER_SECOND: "1000" }), {
        pages: linkPages({ mustRender: true, renderer: patient() }),
      }),
      cheapPasswords(),
    );
  });
  afterEach(() => app?.stop());

  const visit = (options = {}) =>
    SampleVisitor.at(browser, app.url.replace("127.0.0.1", "localhost"), { reducedMotion: "reduce", ...options });

  it("is that of the browser, until another one is chosen, which stays from page to page", async () => {
    await using ada = await visit({ locale: "de-AT" });
    await ada.open("/?q=tee");
    await titled(ada, "Kurze Links, ehrlich gezählt.");
    expect([await langOf(ada), await ada.page.title()]).to.deep.equal(["de", "Suche nach tee · Links"]);

    await ada.page.click("footer >> text=English");
    await titled(ada, "Short links, honestly counted.");
    expect([await langOf(ada), new URL(ada.page.url()).search]).to.deep.equal(["en", "?q=tee"]);
    await ada.page.click("text=Make your first link");
    await titled(ada, "Sign up");
    await ada.open("/most-visited");

    await titled(ada, "Most visited");
  });

  it("is chosen without scripts too", async () => {
    await using ada = await visit({ javaScriptEnabled: false, locale: "en-GB" });
    await ada.page.goto(`${ada.url}/account/sign-in`);
    await ada.page.click("text=Deutsch");

    await titled(ada, "Anmelden");
    await ada.enter({ email: ADMIN, password: "falsch" });
    await ada.submit();
    await ada.page.waitForSelector("text=Adresse oder Passwort sind falsch");
    expect(await ada.page.getAttribute("html", "lang")).to.equal("de");
  });

  it("reaches another tab with its next page, in its document too", async () => {
    await using ada = await visit({ locale: "en-GB" });
    await ada.open("/");
    const other = await ada.context.newPage();
    await other.goto(`${ada.url}/most-visited`);
    await other.click("text=Deutsch");
    await other.waitForSelector("h1:text-is('Meistbesucht')");

    await ada.page.click("text=Sign in");
    await titled(ada, "Anmelden");

    expect([await langOf(ada), await ada.page.title()]).to.deep.equal(["de", "Anmelden · Links"]);
    expect(ada.documents).to.deep.equal(["/"]);
  });

  it("leads a person from the sign-up over the mail to the first link in German", async () => {
    await using ada = await visit({ locale: "de-DE" });
    await ada.open("/account/sign-up");
    await ada.enter({ email: "ada", password: "kurz" });
    await ada.submit();
    expect(await ada.faults()).to.deep.equal({
      email: "eine Adresse wie ada@example.org",
      password: "mindestens 8 Zeichen",
    });
    await ada.enter({ email: ADMIN, password: PASSWORD });
    await ada.submit();
    await titled(ada, "Eine Mail ist unterwegs");

    await ada.open(await findMailPath(app, ADMIN, "Bestätigen Sie Ihre Adresse"));
    await titled(ada, "Bestätigen Sie Ihre Adresse");
    await ada.submit();
    await ada.says("Sie haben sich angemeldet.");
    await ada.page.fill("main input[name=slug]", "tee");
    await ada.page.waitForSelector("text=Dieser Name ist frei.");
    await ada.enter({ target: "https://example.com/tee" });
    await ada.submit();

    await ada.says("Der Link tee ist fertig.");
    expect(await ada.page.textContent("#all")).to.equal("1 Link");
  });

  it("has a text, a place and a contrast for every message, in a narrow window too", async () => {
    await addPerson(app, ADMIN);
    const store = app.resolve(LinkStore);
    await store.add("mein-link", "https://example.com/ein/langer/pfad?mit=werten", "ada");
    await using ada = await visit({ locale: "de-DE", viewport: NARROW });
    const found: string[] = [];
    const look = async (path: string, title: string) => {
      await ada.open(path);
      await titled(ada, title);
      found.push(...(await ada.barriers()), ...(NAME.exec(await ada.page.innerText("body")) ?? []));
    };

    await look("/nirgends", "Nicht gefunden");
    await look("/account/sign-up", "Registrieren");
    await look("/account/forgot", "Ein neues Passwort");
    await look("/account/sign-in", "Anmelden");
    await ada.signIn("ada");
    await ada.says("Sie haben sich angemeldet.");
    await look("/", "Ein neuer Link");
    await look("/links/mein-link", "mein-link");
    await look("/account", "Ihre Geräte");
    await look("/account/security", "Sicherheit");
    await look("/account/totp", "Authentifizierungs-App hinzufügen");
    await look("/account/recovery-codes", "Wiederherstellungscodes");
    await look("/account/tokens", "API-Tokens");
    await look("/account/confirm", "Noch einmal Ihr Passwort");
    await look("/admin", "Verwaltung");

    expect(found).to.deep.equal([]);
  });
});
