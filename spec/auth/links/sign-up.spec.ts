/** Sign-up: alike for every address, confirmed by the person who has typed the password, and never by a program that opens links. */
import { provide } from "@stagecraft/framework";
import { AuthUsers, Identities, type NewUser } from "@stagecraft/framework/auth";
import { Jobs } from "@stagecraft/framework/jobs";
import { expectProblem, FakeClock, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { account, addPerson, AppUsers, mailsOf, PASSWORD, signIn, startAccounts } from "../account-application.js";

const EMAIL = "ada@shop.example";

const signUp = (client: TestClient, email = EMAIL, password = PASSWORD, headers = {}) =>
  client.post(account.signUp.url(), { json: { email, password, name: "Ada" }, headers });

const confirm = (client: TestClient, link: string, password?: string) =>
  client.post(link, { json: password === undefined ? {} : { password } });

/** Signs up, and returns the path of the link in the mail. */
async function linkOf(app: TestApp, client: TestClient, count = 1): Promise<string> {
  expect((await signUp(client)).status).to.equal(202);
  return (await mailsOf(app, count)).at(-1)?.link ?? "";
}

describe("a sign-up", () => {
  it("creates the user when the browser of the sign-up opens the link, and signs the person in", async () => {
    await using app = await startAccounts();
    const client = app.withCookies();
    const link = await linkOf(app, client);
    const users = app.resolve(AppUsers);
    expect(users.created).to.deep.equal([]);

    const page = await client.get(link);
    const response = await confirm(client, link);

    expect(await page.json()).to.deep.equal({
      email: EMAIL,
      expiresAt: "2026-01-02T00:00:00.000Z",
      needsPassword: false,
    });
    expect(await response.json()).to.deep.equal({ kind: "signed-in", userId: "user-1" });
    expect(users.created).to.deep.equal([{ email: EMAIL, data: { name: "Ada" } }]);
    expect(await (await client.get(account.verified.url())).text()).to.equal("verified");
    expect((await signIn(app, EMAIL)).status).to.equal(200);
  });

  it("sends one mail with a link, to the normal form of the address", async () => {
    await using app = await startAccounts();
    await signUp(app, " ADA@Shop.Example ");

    const [mail, ...others] = await mailsOf(app, 1);

    expect(others).to.deep.equal([]);
    expect(mail).to.include({ to: EMAIL, subject: "Confirm your address" });
    expect(mail?.text).to.include(`${app.url.replace("127.0.0.1", "localhost")}/account/sign-up/`);
    expect(mail?.text).to.include("until Fri, 02 Jan 2026 00:00:00 GMT");
  });

  it("asks another browser for the password of the sign-up", async () => {
    await using app = await startAccounts();
    const link = await linkOf(app, app.withCookies());
    const phone = app.withCookies();

    expect(await (await phone.get(link)).json()).to.include({ needsPassword: true });
    for (const password of [undefined, "wrong horse battery"])
      expect(await (await confirm(phone, link, password)).json()).to.deep.equal({ kind: "password-needed" });
    expect(await (await confirm(phone, link, PASSWORD)).json()).to.include({ kind: "signed-in" });
  });

  it("of an attacker with the address of a victim gives the attacker no account, and the victim their own", async () => {
    await using app = await startAccounts();
    const attacker = app.withCookies();
    await signUp(attacker, EMAIL, "password of the attacker");
    const [trap] = await mailsOf(app, 1);
    const victim = app.withCookies();

    // The victim opens the mail of the attacker's sign-up, and has another password in mind.
    expect(await (await confirm(victim, trap?.link ?? "", PASSWORD)).json()).to.deep.equal({ kind: "password-needed" });
    expect((await signIn(app, EMAIL, "password of the attacker")).status).to.equal(401);

    const link = await linkOf(app, victim, 2);
    expect(await (await confirm(victim, link)).json()).to.include({ kind: "signed-in" });
    expect(await (await confirm(attacker, trap?.link ?? "")).json()).to.deep.equal({ kind: "expired" });
    expect((await signIn(app, EMAIL, "password of the attacker")).status).to.equal(401);
  });

  it("with the address of an account has the same response, and tells the person in a mail", async () => {
    await using app = await startAccounts();
    const fresh = await signUp(app, "new@shop.example");
    await addPerson(app, "ada");

    const used = await signUp(app, EMAIL, "password of the attacker");

    expect([used.status, await used.text()]).to.deep.equal([fresh.status, await fresh.text()]);
    const mails = await mailsOf(app, 2);
    expect(mails.map(({ subject }) => subject)).to.have.members([
      "Confirm your address",
      "You have an account already",
    ]);
    expect(mails.find(({ to }) => to === EMAIL)?.link).to.equal("");
    expect((await signIn(app, EMAIL)).status).to.equal(200);
  });

  it("is not confirmed by GET and HEAD, whatever opens the link", async () => {
    await using app = await startAccounts();
    const client = app.withCookies();
    const link = await linkOf(app, client);

    for (let opened = 0; opened < 3; opened++) {
      expect((await app.head(link)).status).to.equal(200);
      expect((await client.get(link)).status).to.equal(200);
    }

    expect(app.resolve(AppUsers).created).to.deep.equal([]);
    expect(await (await confirm(client, link)).json()).to.include({ kind: "signed-in" });
  });

  it("shows its link without a referrer and without a cache", async () => {
    await using app = await startAccounts();
    const link = await linkOf(app, app.withCookies());

    const { headers } = await app.get(link);

    expect(headers.get("referrer-policy")).to.equal("no-referrer");
    expect(headers.get("cache-control")).to.equal("no-store");
  });

  it("is confirmed once, of two requests at once", async () => {
    await using app = await startAccounts();
    const client = app.withCookies();
    const link = await linkOf(app, client);

    const results = await Promise.all(
      [1, 2].map(async () => (await confirm(app, link, PASSWORD)).json<{ kind: string }>()),
    );

    expect(results.map(({ kind }) => kind)).to.have.members(["signed-in", "expired"]);
    expect(app.resolve(AppUsers).created).to.have.lengthOf(1);
    expect(await (await confirm(client, link)).json()).to.deep.equal({ kind: "expired" });
    expect((await client.get(link)).status).to.equal(404);
  });

  it("ends with its deadline, which counts", async () => {
    const clock = new FakeClock();
    await using app = await startAccounts({ clock });
    const client = app.withCookies();
    const link = await linkOf(app, client);

    clock.advance(86_400_000);
    expect((await client.get(link)).status).to.equal(200);
    clock.advance(1);
    expect((await client.get(link)).status).to.equal(404);
    expect(await (await confirm(client, link)).json()).to.deep.equal({ kind: "expired" });
  });

  it("is not confirmed by its id without the signature, or by a link with a changed byte", async () => {
    await using app = await startAccounts();
    const client = app.withCookies();
    const link = await linkOf(app, client);
    const start = account.signUp.url().length + 1;
    const changed = Array.from(link, (byte, at) =>
      at < start ? link : link.slice(0, at) + (byte === "0" ? "1" : "0") + link.slice(at + 1),
    );
    const wrong = [...new Set(changed)].filter((each) => each !== link);

    for (const each of [...wrong, link.split("?")[0] ?? "", `${link}&a=1`]) {
      const response = await confirm(client, each);
      if (response.status === 200) expect(await response.json(), each).to.deep.equal({ kind: "expired" });
      else expect(response.status, each).to.be.within(400, 499);
    }
    expect(wrong).to.have.property("length").above(100);
    expect(await (await confirm(client, link)).json()).to.include({ kind: "signed-in" });
  });

  it("changes nothing where the user cannot be created, and the link stays valid", async () => {
    class Failing extends AppUsers {
      isDown = true;

      override create(user: NewUser): Promise<string> {
        return this.isDown ? Promise.reject(new Error("the table of users is down")) : super.create(user);
      }
    }
    const users = new Failing();
    await using app = await startAccounts({ bindings: [provide(AuthUsers).useValue(users)] });
    const client = app.withCookies();
    const link = await linkOf(app, client);

    expect((await confirm(client, link)).status).to.equal(500);
    expect(await app.resolve(Identities).findByEmail(EMAIL)).to.equal(undefined);
    users.isDown = false;
    expect(await (await confirm(client, link)).json()).to.include({ kind: "signed-in" });
  });

  const invalid: readonly (readonly [string, string, string, string])[] = [
    ["no address", "nobody", PASSWORD, "email"],
    ["an address of 100 kB", `${"a".repeat(100_000)}@shop.example`, PASSWORD, "email"],
    ["two addresses", "a@shop.example,b@shop.example", PASSWORD, "email"],
    ["a header in the address", "a@shop.example\r\nBcc: b@shop.example", PASSWORD, "email"],
    ["a short password", EMAIL, "1234567", "password"],
    ["a password of 100 kB", EMAIL, "p".repeat(100_000), "password"],
    ["a password that is no Unicode", EMAIL, `\ud800${PASSWORD}`, "password"],
  ];
  for (const [what, email, password, field] of invalid)
    it(`refuses ${what}`, async () => {
      await using app = await startAccounts();

      const { extensions: _, ...problem } = await expectProblem(await signUp(app, email, password), { status: 422 });

      expect(problem["errors"]).to.have.all.keys(field);
    });

  it("refuses data of more than 16 KiB in UTF-8", async () => {
    await using app = await startAccounts();
    const send = (name: string) => app.post(account.signUp.url(), { json: { email: EMAIL, password: PASSWORD, name } });

    for (const name of ["x".repeat(20_000), "é".repeat(9000)]) await expectProblem(await send(name), { status: 422 });
    expect((await send("é".repeat(8000))).status).to.equal(202);
  });

  it("is limited like a sign-in, and refuses requests of other sites", async () => {
    await using app = await startAccounts();
    for (let attempt = 0; attempt < 5; attempt++) expect((await signUp(app)).status).to.equal(202);

    await expectProblem(await signUp(app), { status: 429, slug: "rate-limit" });
    const other = await signUp(app, "bob@shop.example", PASSWORD, { "sec-fetch-site": "cross-site" });
    await expectProblem(other, { status: 403, slug: "cross-site" });
  });

  it("stores nothing and gives 5xx where the job cannot be stored", async () => {
    await using app = await startAccounts();
    app.resolve(Jobs).dispatch = () => Promise.reject(new Error("the store of jobs is down"));

    const response = await signUp(app);

    expect(response.status).to.equal(500);
    expect(response.headers.getSetCookie()).to.deep.equal([]);
    expect(app.resolve(AuthUsers)).to.have.property("created").that.deep.equals([]);
  });
});
