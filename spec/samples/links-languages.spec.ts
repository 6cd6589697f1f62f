/** The sample in its two languages: the same messages in both, all of them used, and each text that a person or a program gets. */
import { Languages } from "@stagecraft/framework/i18n";
import { Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import { MemorySessionStore } from "@stagecraft/framework/session";
import { testApp, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { account } from "../../samples/links/accounts/account.routes.js";
import { ConfirmSignUp } from "../../samples/links/accounts/mails.js";
import { profile } from "../../samples/links/accounts/profile.routes.js";
import { linksApplication } from "../../samples/links/application.js";
import { buildFrontEnd } from "../../samples/links/build-front-end.js";
import { LOCALES } from "../../samples/links/languages.js";
import { home, links } from "../../samples/links/links.routes.js";
import { sessions } from "../../samples/links/sessions.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { cheapPasswords } from "../support/cheap-passwords.js";
import { judgeResponses } from "../support/judged-responses.js";
import { pageIn } from "../support/page-visit.js";
import { describeLinks } from "../support/sample-documents.js";
import { addPerson, findMailPath, PASSWORD } from "../support/sample-people.js";
import { filesBelow, textOf } from "../support/sources.js";
import { until } from "../support/until.js";

const ADA = "ada@example.org";
const GERMAN = { "Accept-Language": "de-AT, de;q=0.9, en;q=0.5" };

/** The declaration of the messages of a language: their names, with the names of their values. */
function describeMessages(tag: string): string {
  const languages = new Languages({ folder: LOCALES, default: tag });
  languages.start();
  return languages.describe();
}

const listNames = (tag: string) =>
  [...describeMessages(tag).matchAll(/^ {4}"([^"]+)":/gm)].map(([, name = ""]) => name);

/** Message names as the sources of the sample have them; `.+` stands for a part that is computed. */
function listUses(): readonly string[] {
  const files = [...filesBelow("samples/links", ".ts"), ...filesBelow("samples/links", ".tsx")];
  return files.flatMap((file) => {
    const texts = [...(textOf(file) ?? "").matchAll(/["`]([a-z][a-z\d]*(?:-(?:[a-z\d]+|\$\{\w+\}))*)["`]/g)];
    return texts.map(([, text = ""]) => text.replaceAll(/\$\{\w+\}/g, ".+"));
  });
}

/** The framework looks for these by the type of a problem, and by the code of a fault. */
const OF_FRAMEWORK = /^(problem|validation)-/;

describe("the catalogs of samples/links", () => {
  it("have the same messages with the same values in both languages", () => {
    expect(describeMessages("de")).to.equal(describeMessages("en"));
    expect(listNames("en")).to.have.length.above(200);
  });

  it("have no message that nothing uses", () => {
    const uses = new Set(listUses());
    const computed = [...uses].filter((use) => use.includes(".+")).map((use) => new RegExp(`^${use}$`));
    const isUsed = (name: string) => uses.has(name) || computed.some((use) => use.test(name));

    expect(listNames("en").filter((name) => !OF_FRAMEWORK.test(name) && !isUsed(name))).to.deep.equal([]);
  });

  it("have each message that a source names", () => {
    const names = new Set(listNames("en"));
    const used = listUses().filter((use) => /^(page|flash|field|mail)-/.test(use) && !use.includes(".+"));

    expect(used).to.have.length.above(150);
    expect(used.filter((use) => !names.has(use))).to.deep.equal([]);
  });
});

const start = (parts: Parameters<typeof linksApplication>[1] = {}) =>
  testApp(linksApplication(settingsFrom({}), parts), cheapPasswords());

async function show(client: TestClient, path: string, headers = {}) {
  const response = await client.get(path, { headers: { Accept: "text/html", ...headers } });
  const html = await response.text();
  return { response, html, page: pageIn(html) };
}

const messagesOf = (flash: unknown) =>
  (flash as { readonly messages: readonly { readonly message: string }[] }).messages.map(({ message }) => message);

function mailsOf(app: TestApp) {
  const mailer = app.resolve(Mailer);
  if (!(mailer instanceof MemoryMailer)) throw new Error("the mails are not in memory");
  return mailer.sent;
}

class FailingStore extends MemorySessionStore {
  isLost = false;

  override load(key: string, now: number) {
    if (this.isLost) throw new Error("connection lost");
    return super.load(key, now);
  }
}

describe("samples/links in two languages", function () {
  this.timeout(120_000);
  judgeResponses(describeLinks);
  before(() => buildFrontEnd());

  it("has the page of the language that the browser prefers, and English for all others", async () => {
    await using app = await start();

    const german = await show(app, "/", GERMAN);
    const french = await show(app, "/", { "Accept-Language": "fr" });

    expect(german.html).to.include('<html lang="de" dir="ltr">').and.include("<h1>Kurze Links, ehrlich gezählt.</h1>");
    expect(german.html).to.include('content="Kurze Links, und wie oft ihnen jemand folgt."');
    expect(german.response.headers.get("content-language")).to.equal("de");
    expect(german.response.headers.get("vary")).to.include("Accept-Language");
    expect(french.html).to.include('<html lang="en" dir="ltr">').and.include("<h1>Short links, honestly counted.</h1>");
  });

  it("stores a choice in the session, and leads back to the page without a script", async () => {
    await using app = await start();
    const browser = app.withCookies();

    const { html } = await show(browser, "/?q=tea");
    const href = /href="(\/language\?lang=de[^"]*)"/.exec(html)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const chosen = await browser.get(href);
    const later = await show(browser, "/most-visited", { "Accept-Language": "en" });

    expect([chosen.status, chosen.headers.get("location")]).to.deep.equal([302, "/?q=tea"]);
    expect(later.html).to.include('<h1 id="most">Meistbesucht</h1>');
  });

  for (const to of ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/a%0d%0ab\n"])
    it(`leads to no other site: ${JSON.stringify(to)}`, async () => {
      await using app = await start();

      const response = await app.get(`/language?${new URLSearchParams({ lang: "de", to })}`);

      expect([response.status, response.headers.get("location")]).to.deep.equal([400, null]);
    });

  it("says in German what is wrong at a field, and what has happened", async () => {
    await using app = await start();
    const ada = await app.actingAs("ada");
    await ada.get("/?lang=de");

    await ada.post(home.shorten.url(), { form: { target: "none", slug: "No!" } });
    const wrong = await show(ada, "/");
    await ada.post(home.shorten.url(), { form: { target: "https://example.com/", slug: "tee" } });
    const ready = await show(ada, "/");
    await ada.post(home.shorten.url(), { form: { target: "https://example.com/", slug: "tee" } });
    const taken = await show(ada, "/");

    expect(wrong.page.props["errors"]).to.deep.equal({
      target: "eine vollständige URL mit http oder https",
      slug: "3 bis 32 Kleinbuchstaben, Ziffern oder Bindestriche",
    });
    expect(messagesOf(ready.page["flash"])).to.deep.equal(["Der Link tee ist fertig."]);
    expect(taken.page.props["errors"]).to.deep.equal({ slug: "dieser Name ist vergeben" });
  });

  it("checks a form in German while it is filled in", async () => {
    await using app = await start();
    const ada = await app.actingAs("ada");
    await ada.post(home.shorten.url(), { form: { target: "https://example.com/", slug: "tee" } });

    const headers = { Precognition: "true", Accept: "application/json", ...GERMAN };
    const response = await ada.post(home.shorten.url(), { json: { target: "none", slug: "tee" }, headers });

    expect(await response.json()).to.deep.include({
      errors: { target: ["eine vollständige URL mit http oder https"], slug: ["dieser Name ist vergeben"] },
    });
  });

  it("has problems in the language of a program, with the text of the sample as detail", async () => {
    await using app = await start();

    const missing = await app.get(links.show.url("tee"), { headers: { Authorization: "Bearer x", ...GERMAN } });
    const invalid = await app.get("/to/No.1", { headers: GERMAN });

    expect(missing.headers.get("content-language")).to.equal("de");
    expect(await missing.json()).to.deep.include({ title: "Nicht gefunden", status: 404, detail: "kein Link tee" });
    expect(await invalid.json()).to.deep.include({
      title: "Ungültige Eingabe",
      errors: {
        "params.slug": [{ code: "invalid_format", message: "3 bis 32 Kleinbuchstaben, Ziffern oder Bindestriche" }],
      },
    });
  });

  it("sends the mail of a sign-up in the language of the person, and in English to others", async () => {
    await using app = await start();

    await app.withCsrf().post(account.join.url(), { form: { email: ADA, password: PASSWORD }, headers: GERMAN });
    await app.withCsrf().post(account.join.url(), { form: { email: "eve@example.org", password: PASSWORD } });
    const link = await findMailPath(app, ADA, "Bestätigen Sie Ihre Adresse");
    await findMailPath(app, "eve@example.org", "Confirm your address");

    const mailer = app.resolve(Mailer) as MemoryMailer;
    const { html, text } = mailer.expectSent(ConfirmSignUp, { to: ADA });
    expect(html).to.include('<div lang="de">').and.include("Willkommen bei Links.");
    expect(text).to.include("Der Link gilt einmal, einen Tag lang.");
    expect((await show(app, link, GERMAN)).html).to.include("<h1>Bestätigen Sie Ihre Adresse</h1>");
  });

  it("keeps the link of a mail valid where its page is translated", async () => {
    await using app = await start();
    const browser = app.withCsrf();
    await browser.post(account.join.url(), { form: { email: ADA, password: PASSWORD } });
    const link = await findMailPath(app, ADA, "Confirm your address");

    const { html } = await show(browser, link);
    const href = /href="(\/language\?lang=de[^"]*)"/.exec(html)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const back = (await browser.get(href)).headers.get("location") ?? "";

    expect((await show(browser, back)).html).to.include("<h1>Bestätigen Sie Ihre Adresse</h1>");
    const confirmed = await browser.post(back, { form: {} });
    expect([confirmed.status, confirmed.headers.get("location")]).to.deep.equal([303, "/"]);
  });

  it("writes the notices of an account in the language of its owner, with times as that language has them", async () => {
    await using app = await start();
    await addPerson(app, ADA);
    await app.withCsrf().post(account.sendReset.url(), { form: { email: ADA }, headers: GERMAN });
    await findMailPath(app, ADA, "Legen Sie ein neues Passwort fest");
    const ada = await app.actingAs("ada");

    await ada.get("/?lang=de");
    await ada.post(profile.createToken.url(), { form: { name: "Skript", access: "read", days: "30" } });
    await until(() => mailsOf(app).length === 2);

    const [reset, token] = mailsOf(app);
    expect(reset?.text).to.match(/gilt einmal, bis \d\d\.\d\d\.\d{4}, \d\d:\d\d UTC\./);
    expect(token?.subject).to.equal("Ein API-Token wurde angelegt");
    expect(token?.text).to.include("schreiben Sie uns");
  });

  it("shows an error page in English where the session, and with it each prop, is out of reach", async () => {
    const store = new FailingStore();
    await using app = await start({ sessions: { ...sessions(), store } });
    const browser = app.withCookies();
    await browser.get("/?lang=de");

    store.isLost = true;
    const { response, html } = await show(browser, "/", GERMAN);

    expect(response.status).to.equal(503);
    expect(html).to.include('<html lang="en"').and.include("<h1>Back in a moment</h1>").and.not.include(">page-");
  });
});
