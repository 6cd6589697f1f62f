/** The invoicing product for its people, its programs and its owner: each flow of an account, over a socket and in a browser. */
import { Clock, provide } from "@stagecraft/framework";
import { SignIn } from "@stagecraft/framework/auth";
import { Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import {
  double,
  expectProblem,
  FakeClock,
  testApp,
  type TestApp,
  type TestClient,
} from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "../../support/browser.js";
import { cheapPasswords } from "../../support/cheap-passwords.js";
import { needs } from "../../support/machine.js";
import { until } from "../../support/until.js";
import { showCode } from "../../auth/second-step/second-step-application.js";
import { createInvoicing } from "./application.js";
import { account, api, invoices, keys, members, security } from "./endpoints.js";
import { AppUsers } from "./users.js";

const PASSWORD = "correct horse battery";
const PAGE = { Accept: "text/html" };
const LATER_MS = 16 * 60_000;

async function start(clock?: FakeClock) {
  const mailer = new MemoryMailer({ from: "billing@invoices.example" });
  const app = await testApp(
    createInvoicing(),
    provide(Mailer).useValue(mailer),
    cheapPasswords(),
    ...(clock === undefined ? [] : [provide(Clock).useValue(clock)]),
  );
  /** The link of the next mail. */
  let read = 0;
  const nextLink = async () => {
    await until(() => mailer.sent.length > read);
    return /http\S+/.exec(mailer.sent[read++]?.text ?? "")?.[0] ?? "";
  };
  return { app, nextLink, [Symbol.asyncDispose]: () => app.stop() };
}

type Shop = Awaited<ReturnType<typeof start>>;

const send = (client: TestClient, endpoint: { url(): string }, json: object = {}) =>
  client.post(endpoint.url(), { json });

async function kindOf(response: Response | Promise<Response>): Promise<unknown> {
  return ((await (await response).json()) as { kind: unknown }).kind;
}

async function signUp({ app, nextLink }: Shop, name: string): Promise<TestClient> {
  const client = app.withCsrf();
  await send(client, account.signUp, { name, email: `${name}@x.example`, password: PASSWORD });
  expect(await kindOf(client.post(await nextLink(), { json: {} }))).to.equal("signed-in");
  return client;
}

async function signIn(app: TestApp, name: string, values: object = {}): Promise<readonly [TestClient, unknown]> {
  const client = app.withCsrf();
  const json = { email: `${name}@x.example`, password: PASSWORD, ...values };
  return [client, await kindOf(send(client, account.signIn, json))];
}

const isSignedIn = async (client: TestClient) => (await client.get(account.show.url())).status === 200;

const createUser = (app: TestApp, name: string) =>
  app.resolve(AppUsers).create({ email: `${name}@x.example`, data: { name } });

describe("an invoicing product built from the guide", () => {
  it("creates an account by the link of the mail, in the browser of the sign-up or with its password", async () => {
    await using shop = await start();
    const ada = shop.app.withCsrf();
    await send(ada, account.signUp, { name: "Ada", email: "ada@x.example", password: PASSWORD });
    const link = await shop.nextLink();
    const scanner = await shop.app.get(link);
    const stranger = await shop.app.withCsrf().post(link, { json: {} });

    expect([scanner.status, stranger.status]).to.deep.equal([200, 401]);
    expect(await kindOf(ada.post(link, { json: {} }))).to.equal("signed-in");
    expect(await (await ada.get(account.show.url())).json()).to.include({ email: "ada@x.example", role: "owner" });
    expect(await kindOf(ada.post(link, { json: {} }))).to.equal("refused");
  });

  it("shows the faults of a form on its page", async () => {
    await using shop = await start();
    const visitor = shop.app.withCsrf();
    const headers = { ...PAGE, Referer: shop.app.url + account.signUpPage.url() };

    for (const form of [
      { name: "a", email: "a@x.example", password: "short" },
      { name: "a", email: "a", password: PASSWORD },
    ]) {
      const response = await visitor.post(account.signUp.url(), { form, headers });
      expect([response.status, response.headers.get("location")]).to.deep.equal([303, account.signUpPage.url()]);
    }
    const page = await (await visitor.get(account.signUpPage.url(), { headers: PAGE })).text();
    expect(page).to.include("email: is no e-mail address").and.not.include(PASSWORD);
  });

  it("lists the devices of a person, and signs out there and everywhere", async () => {
    await using shop = await start();
    const ada = await signUp(shop, "ada");
    const [phone] = await signIn(shop.app, "ada", { remember: true });
    const [laptop] = await signIn(shop.app, "ada");

    const { devices } = await (
      await ada.get(security.devices.url())
    ).json<{
      devices: { signInId: string; isRemembered: boolean }[];
    }>();
    const remembered = devices.find(({ isRemembered }) => isRemembered);
    await ada.post(security.endDevice.url(remembered?.signInId ?? ""));

    expect(devices).to.have.length(3);
    expect([await isSignedIn(phone), await isSignedIn(laptop)]).to.deep.equal([false, true]);
    await send(laptop, security.endOthers);
    expect([await isSignedIn(ada), await isSignedIn(laptop)]).to.deep.equal([false, true]);
    await send(laptop, account.signOut);
    expect(await isSignedIn(laptop)).to.equal(false);
  });

  it("replaces a forgotten password, and signs in by a link without one", async () => {
    await using shop = await start();
    const ada = await signUp(shop, "ada");
    const visitor = shop.app.withCsrf();

    await send(visitor, account.forgot, { email: "ada@x.example" });
    const reset = await shop.nextLink();
    expect(await kindOf(visitor.post(reset, { json: { password: "battery staple" } }))).to.equal("changed");
    await shop.nextLink(); // a note about the change

    expect(await isSignedIn(ada)).to.equal(false);
    expect((await signIn(shop.app, "ada"))[1]).to.equal("refused");
    await send(visitor, account.sendLink, { email: "ada@x.example" });
    expect(await kindOf(visitor.post(await shop.nextLink()))).to.equal("signed-in");
    expect(await isSignedIn(visitor)).to.equal(true);
  });

  it("changes the password with the old one, and the address by a mail to the new one", async () => {
    await using shop = await start();
    const ada = await signUp(shop, "ada");

    const change = (current: string) => send(ada, account.changePassword, { current, password: "battery staple" });
    expect([await kindOf(change("wrong")), await kindOf(change(PASSWORD))]).to.deep.equal(["refused", "changed"]);
    await shop.nextLink(); // a note about the change
    await send(ada, account.changeEmail, { email: "countess@x.example" });
    expect(await kindOf(ada.post(await shop.nextLink()))).to.equal("changed");

    const [, kind] = await signIn(shop.app, "countess", { password: "battery staple" });
    expect(kind).to.equal("signed-in");
  });

  it("asks for the code of an app, or for a recovery code, which counts once", async () => {
    const clock = new FakeClock();
    await using shop = await start(clock);
    const ada = await signUp(shop, "ada");
    const { secret } = await (await send(ada, security.startTotp)).json<{ secret: string }>();
    const added = await send(ada, security.confirmTotp, { code: showCode(secret, clock, -1) });
    const [recoveryCode = ""] = (await added.json<{ recoveryCodes: string[] }>()).recoveryCodes;

    const finish = async (proof: object) => {
      const [client, kind] = await signIn(shop.app, "ada");
      return [kind, await kindOf(send(client, account.secondStep, proof)), await isSignedIn(client)];
    };

    expect(await finish({ code: showCode(secret, clock) })).to.deep.equal(["second-step", "signed-in", true]);
    expect(await finish({ code: showCode(secret, clock) })).to.deep.equal(["second-step", "refused", false]);
    expect(await finish({ recoveryCode })).to.deep.equal(["second-step", "signed-in", true]);
    expect(await finish({ recoveryCode })).to.deep.equal(["second-step", "refused", false]);
  });

  it("lets a program do what its token says, until the token is revoked", async () => {
    await using shop = await start();
    const ada = await signUp(shop, "ada");
    const json = { name: "CI", scopes: ["invoices:read"] };
    const { id, text } = await (await send(ada, security.createToken, json)).json<{ id: string; text: string }>();
    const headers = { Authorization: `Bearer ${text}` };

    const list = () => shop.app.get(api.list.url(), { headers });
    expect(await (await list()).json()).to.deep.equal([]);
    const create = await shop.app.post(api.create.url(), { headers, json: { customer: "ACME", cents: 1 } });
    await expectProblem(create, { status: 403, slug: "scope" });
    await ada.post(security.revokeToken.url(id));
    expect((await list()).status).to.equal(401);
    expect(text).to.match(/^inv_/);
  });

  it("lets the owner give roles and suspend a member, and no admin", async () => {
    await using shop = await start();
    const ada = await shop.app.actingAs(await createUser(shop.app, "ada"));
    const id = await createUser(shop.app, "eve");
    const eve = await shop.app.actingAs(id);

    const setRole = (client: TestClient) => client.post(members.setRole.url(id), { json: { role: "admin" } });
    await expectProblem(await setRole(eve), { status: 403, slug: "role" });
    await expectProblem(await eve.get(members.index.url()), { status: 403, slug: "role" });
    expect((await setRole(ada)).status).to.equal(200);
    expect((await eve.get(members.index.url())).status).to.equal(200);
    await ada.post(members.suspend.url(id));
    expect(await isSignedIn(eve)).to.equal(false);
  });

  it("removes an invoice after a recent confirmation, to which a form leads and returns", async () => {
    const clock = new FakeClock();
    await using shop = await start(clock);
    const ada = await signUp(shop, "ada");
    await send(ada, invoices.create, { customer: "ACME", cents: 1200 });
    const headers = { ...PAGE, Referer: shop.app.url + invoices.index.url() };
    const remove = () => ada.post(invoices.remove.url(1), { form: {}, headers });

    clock.advance(LATER_MS);
    expect((await remove()).headers.get("location")).to.equal(account.confirmPage.url());
    const confirmed = await ada.post(account.confirm.url(), { form: { password: PASSWORD }, headers: PAGE });
    expect(confirmed.headers.get("location")).to.equal(invoices.index.url());
    await remove();

    expect(await (await ada.get(invoices.index.url())).json()).to.deep.equal({ invoices: [] });
  });

  it("deletes the account of a member, and not that of the owner", async () => {
    await using shop = await start();
    const [ada, eve] = [await signUp(shop, "ada"), await signUp(shop, "eve")];

    expect((await send(ada, account.remove)).status).to.equal(403);
    expect(await kindOf(send(eve, account.remove))).to.equal("removed");

    expect([await isSignedIn(ada), await isSignedIn(eve)]).to.deep.equal([true, false]);
    expect((await signIn(shop.app, "eve"))[1]).to.equal("refused");
    expect(await shop.app.resolve(AppUsers).list()).to.have.length(1);
  });

  it("is tested with a double of a flow", async () => {
    const refused = double(SignIn, { withPassword: () => Promise.resolve({ kind: "refused" as const }) });
    await using app = await testApp(createInvoicing(), refused);

    const response = await send(app.withCsrf(), account.signIn, { email: "ada@x.example", password: PASSWORD });

    expect(response.status).to.equal(401);
  });
});

/** The script of the guide, in a page of the product. */
function usePasskey(page: Page, ceremony: "create" | "get"): Promise<unknown> {
  const paths = [keys.start.url(), keys.add.url(), keys.startSignIn.url(), keys.signIn.url()] as const;
  return page.evaluate(
    async ([kind, [startAdding, add, startSignIn, finishSignIn]]) => {
      const token = /XSRF-TOKEN=([^;]+)/.exec(document.cookie)?.[1] ?? "";
      const post = async (path: string, body: object) => {
        const headers = { "content-type": "application/json", "x-xsrf-token": token };
        return (await fetch(path, { method: "POST", headers, body: JSON.stringify(body) })).json() as Promise<never>;
      };
      const usage = { usage: "sign-in" };
      const credential =
        kind === "create"
          ? await navigator.credentials.create({
              publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(await post(startAdding, usage)),
            })
          : await navigator.credentials.get({
              publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(await post(startSignIn, {})),
            });
      const response = credential instanceof PublicKeyCredential ? credential.toJSON() : undefined;
      return kind === "create" ? post(add, { ...usage, name: "Phone", response }) : post(finishSignIn, { response });
    },
    [ceremony, paths] as const,
  );
}

async function addAuthenticator(page: Page): Promise<void> {
  const device = await page.context().newCDPSession(page);
  await device.send("WebAuthn.enable");
  const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true } as const;
  const verified = { hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
  await device.send("WebAuthn.addVirtualAuthenticator", { options: { ...options, ...verified } });
}

describe("the pages of the invoicing product in a browser", () => {
  let browser: Browser;

  before(needs("chromium"));
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser.close());

  it("sign a person up by forms, out, in by a passkey, and delete the account", async () => {
    await using shop = await start();
    await createUser(shop.app, "owner");
    const page = await browser.newPage();
    await addAuthenticator(page);
    const open = (path: string) => page.goto(shop.app.url.replace("127.0.0.1", "localhost") + path);

    await open(account.signUpPage.url());
    for (const [name, value] of Object.entries({ name: "Ada", email: "ada@x.example", password: PASSWORD }))
      await page.fill(`[name=${name}]`, value);
    await page.click("button");
    const { pathname, search } = new URL(await shop.nextLink());
    await open(pathname + search);
    await page.click("button");
    expect(new URL(page.url()).pathname).to.equal(invoices.index.url());

    expect(await usePasskey(page, "create")).to.include({ kind: "added" });
    await open(account.show.url());
    await page.click("text=Sign out");
    expect(new URL(page.url()).pathname).to.equal(account.signInPage.url());

    expect(await usePasskey(page, "get")).to.deep.equal({ kind: "signed-in" });
    await open(account.show.url());
    await page.click("text=Delete the account");
    expect(await page.textContent("body")).to.include("The account is deleted.");
  });
});
