/** The support desk in the test kit: doubles in the place of the company, a clock of the test, and each text in three languages. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Binding, Clock, provide } from "@stagecraft/framework";
import { TokenVerifier } from "@stagecraft/framework/auth/jwt";
import { Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import { ProviderClients } from "@stagecraft/framework/oauth";
import {
  double,
  expectProblem,
  FakeClock,
  ProviderDouble,
  testApp,
  type TestClient,
} from "@stagecraft/framework/testing";
import { expect } from "chai";
import { cheapPasswords } from "../../support/cheap-passwords.js";
import { until } from "../../support/until.js";
import { createDesk, type DeskSettings } from "./application.js";
import { account, company, mobile, pages, tickets } from "./endpoints.js";
import { ConfirmAddress, TicketReceived } from "./mails.js";

const ISSUER = "https://id.company.example";
const HOUR_MS = 3_600_000;
const ADA = { subject: "ada", email: "ada@company.example", name: "Ada" };
const EVE = { email: "eve@desk.example", password: "correct horse battery" };

async function start(bindings: readonly Binding[] = [], settings: Partial<DeskSettings> = {}) {
  const providers = new ProviderDouble();
  const mailer = new MemoryMailer({ from: "desk@desk.example" });
  const app = await testApp(
    createDesk({ issuer: ISSUER, ...settings }),
    provide(ProviderClients).useValue(providers),
    provide(Mailer).useValue(mailer),
    cheapPasswords(),
    ...bindings,
  );
  const signIn = (client: TestClient, path = account.start.url("company")) => providers.signIn(client, path, ADA);
  return { app, providers, mailer, signIn, [Symbol.asyncDispose]: () => app.stop() };
}

type Desk = Awaited<ReturnType<typeof start>>;

/** A person with a password, who has confirmed the address by the mail. */
async function signUp({ app, mailer }: Desk): Promise<TestClient> {
  const browser = app.withCsrf();
  await browser.post(account.signUp.url(), { form: EVE });
  await until(() => mailer.sent.length > 0);
  const { mail } = mailer.expectSent(ConfirmAddress, { to: EVE.email });
  expect((await browser.post(mail.data.url)).headers.get("location")).to.equal(pages.home.url());
  return browser;
}

/** Takes each token as one of the company with these scopes. */
function takeTokens(...scopes: readonly string[]): Binding {
  const identity = { subject: "shop", issuer: ISSUER, scopes, clientId: "shop", claims: {} };
  return double(TokenVerifier.of(company), { verify: () => Promise.resolve(identity) });
}

const headers = { Authorization: "Bearer of-the-company" };

describe("a support desk built from the guide", () => {
  it("signs staff in at the company, shows its pages in their language and direction, and signs out at both", async () => {
    await using desk = await start();
    const browser = desk.app.withCsrf();

    const back = await desk.signIn(browser);
    const page = await (await browser.get(`${pages.home.url()}?lang=ar`)).text();
    const later = await (await browser.get(account.linked.url())).text();
    const out = await browser.post(account.signOut.url());

    expect(back.headers.get("location")).to.equal(pages.home.url());
    expect(page).to.include('<html lang="ar" dir="rtl">').and.to.include("لا توجد طلبات مفتوحة");
    expect(later).to.include('<html lang="ar" dir="rtl">').and.to.include("company: ada@company.example");
    expect(out.headers.get("location")).to.equal("https://company.test/sign-out");
    expect((await browser.get(pages.home.url())).status).to.equal(401);
  });

  it("links the account of the company to that of a person with a password, who then signs in by either", async () => {
    await using desk = await start();
    const eve = await signUp(desk);

    const linked = await desk.signIn(eve, account.link.url("company"));
    const other = desk.app.withCsrf();
    const signedIn = await desk.signIn(other);
    const byPassword = await desk.app.withCsrf().post(account.signIn.url(), { form: EVE });

    expect(linked.headers.get("location")).to.equal(account.linked.url());
    expect(signedIn.headers.get("location")).to.equal(pages.home.url());
    expect(byPassword.headers.get("location")).to.equal(pages.home.url());
  });

  it("asks an API of the company as the person, with a token that it refreshes", async () => {
    const api = createServer((request, response) => response.end(JSON.stringify(request.headers.authorization)));
    api.listen(0, "127.0.0.1");
    await once(api, "listening");
    // A server that listens on TCP has an address that is an object.
    const profileUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const clock = new FakeClock();
    await using desk = await start([provide(Clock).useValue(clock)], { profileUrl });
    const ada = desk.app.withCookies();
    await desk.signIn(ada);

    const first = await (await ada.get(pages.profile.url())).json();
    clock.advance(HOUR_MS);
    const second = await (await ada.get(pages.profile.url())).json();
    api.close();

    expect([first, second]).to.deep.equal(["Bearer access-1", "Bearer access-2"]);
    expect(desk.providers.refreshes).to.equal(1);
  });

  it("takes a ticket of another service, and confirms it in the language of the requester", async () => {
    await using desk = await start([takeTokens("tickets:write")]);
    const json = { subject: "No heating", requester: "eve@example.org", language: "de" };

    const created = await desk.app.post(tickets.store.url(), { headers, json });
    const refused = await desk.app.get(tickets.list.url(), { headers: { ...headers, "Accept-Language": "de" } });

    expect(created.status).to.equal(201);
    const { subject } = desk.mailer.expectSent(TicketReceived, { to: "eve@example.org" });
    expect(subject).to.equal("Wir haben Ihre Anfrage erhalten: No heating");
    await expectProblem(refused, { status: 403, slug: "scope", title: "Der Token erlaubt das nicht" });
  });

  it("tells the faults of a ticket in the language of the request", async () => {
    await using desk = await start([takeTokens("tickets:write")]);
    const json = { subject: "", requester: "eve" };

    const response = await desk.app.post(`${tickets.store.url()}?lang=ar`, { headers, json });

    const { title, ...problem } = await expectProblem(response, { status: 422 });
    expect(title).to.equal("بعض القيم غير صالحة");
    expect(problem["errors"]).to.deep.equal({
      "body.requester": [{ code: "invalid_format", message: "هذا ليس عنوان بريد إلكتروني." }],
      "body.subject": [{ code: "too_small", message: "هذا النص قصير جدًا." }],
    });
  });

  it("tells other services in its API document which tokens they need", async () => {
    await using desk = await start();

    const document = await (
      await desk.app.get("/openapi.json")
    ).json<{ paths: Record<string, Record<string, object>> }>();

    const security = Object.values(document.paths).flatMap((path) => Object.values(path));
    expect(security.map((each): unknown => Reflect.get(each, "security"))).to.deep.equal([
      [{ bearer: ["tickets:read"] }],
      [{ bearer: ["tickets:write"] }],
      [{ bearer: ["tickets:read"] }],
    ]);
  });

  it("keeps its mobile app signed in by refresh tokens, until the app signs out", async () => {
    const clock = new FakeClock();
    await using desk = await start([provide(Clock).useValue(clock)]);
    await signUp(desk);
    const phone = desk.app.client(mobile);
    const show = (text: string) => desk.app.get(mobile.show.url(), { headers: { Authorization: `Bearer ${text}` } });

    const first = await phone.signIn({ body: EVE });
    expect((await show(first.access_token)).status).to.equal(200);
    clock.advance(HOUR_MS);
    expect((await show(first.access_token)).status).to.equal(401);
    const second = await phone.refresh({ body: { refresh_token: first.refresh_token } });
    expect((await show(second.access_token)).status).to.equal(200);
    await phone.signOut({ body: { refresh_token: second.refresh_token } });
    const ended = await desk.app.post(mobile.refresh.url(), { json: { refresh_token: second.refresh_token } });

    expect([ended.status, await ended.json()]).to.deep.equal([400, { error: "invalid_grant" }]);
    expect((await desk.app.post(mobile.signIn.url(), { json: { ...EVE, password: "wrong horse" } })).status).to.equal(
      401,
    );
  });
});
