/** The second step of a sign-in: codes of an authenticator app, recovery codes, and whom both refuse. */
import { Encrypter } from "@stagecraft/framework/crypto";
import { Identities, secondStep, TotpSecrets } from "@stagecraft/framework/auth";
import { expectProblem, FakeClock, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { account, addPerson, KEY, PASSWORD, signIn, startAccounts } from "../account-application.js";
import {
  addPersonWithPhone,
  finish,
  givePassword,
  type Phone,
  readSecret,
  showCode,
  startSecondSteps,
} from "./second-step-application.js";

const show = account.show.url();
const PERIOD_MS = 30_000;
const MINUTE_MS = 60_000;

interface World extends AsyncDisposable {
  readonly app: TestApp;
  readonly clock: FakeClock;
  readonly phone: Phone;
}

/** Ada has a phone, whose next code counts. */
async function startWithPhone(): Promise<World> {
  const clock = new FakeClock();
  const app = await startSecondSteps({ clock });
  const phone = await addPersonWithPhone(app, "ada", clock);
  clock.advance(PERIOD_MS);
  return { app, clock, phone, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

describe("a sign-in with a second step", () => {
  it("is complete after the code, under a new id of the session", async () => {
    await using world = await startWithPhone();
    const { app, clock, phone } = world;
    const client = app.withCookies();
    const first = await signIn(client, "ada@shop.example");
    expect(await first.json()).to.deep.equal({ kind: "second-step" });
    expect((await client.get(show)).status).to.equal(401);

    const response = await finish(client, { code: showCode(phone.secret, clock) });

    expect(await response.json()).to.deep.equal({ kind: "signed-in", userId: "ada" });
    expect(response.headers.getSetCookie()).to.have.lengthOf(1);
    expect(response.headers.getSetCookie()).to.not.deep.equal(first.headers.getSetCookie());
    expect((await client.get(show)).status).to.equal(200);
    expect(await (await finish(client, { code: showCode(phone.secret, clock, 1) })).json()).to.deep.equal({
      kind: "expired",
    });
  });

  it("is complete after the password for a person without one", async () => {
    await using app = await startSecondSteps({ clock: new FakeClock() });
    await addPerson(app, "bob");

    expect(await (await signIn(app, "bob@shop.example")).json()).to.deep.equal({ kind: "signed-in", userId: "bob" });
  });

  it("gives the same response for every wrong proof", async () => {
    await using world = await startWithPhone();
    const { app, clock, phone } = world;
    const seen = [];
    const wrong = [
      { code: "000000" },
      { code: showCode(phone.secret, clock, -3) },
      { recoveryCode: "aaaa-aaaa-aaaa-aaaa" },
      { code: "x".repeat(100_000) },
      {},
    ];
    for (const proof of wrong) {
      const response = await finish(await givePassword(app, "ada"), proof);
      seen.push([response.status, await response.text()]);
      clock.advance(4 * MINUTE_MS);
    }

    expect(seen[0]?.[0]).to.equal(401);
    for (const each of seen) expect(each).to.deep.equal(seen[0]);
  });

  it("takes a code once, by the requests of two browsers at the same time, and later", async () => {
    await using world = await startWithPhone();
    const { app, clock, phone } = world;
    const clients = [await givePassword(app, "ada"), await givePassword(app, "ada")];
    const code = showCode(phone.secret, clock);

    const responses = await Promise.all(clients.map((client) => finish(client, { code })));
    const later = await finish(await givePassword(app, "ada"), { code });

    expect(responses.map(({ status }) => status).toSorted((one, other) => one - other)).to.deep.equal([200, 401]);
    expect(later.status).to.equal(401);
    expect((await finish(await givePassword(app, "ada"), { code: showCode(phone.secret, clock, 1) })).status).to.equal(
      200,
    );
  });

  it("takes no code that is older than the last one, and not the one that added the app", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    const { secret } = await addPersonWithPhone(app, "ada", clock);
    const client = await givePassword(app, "ada");

    expect((await finish(client, { code: showCode(secret, clock) })).status).to.equal(401);
    expect((await finish(client, { code: showCode(secret, clock, -1) })).status).to.equal(401);
    expect((await finish(client, { code: showCode(secret, clock, 1) })).status).to.equal(200);
  });

  it("takes one code of two users", async () => {
    await using world = await startWithPhone();
    const { app, clock, phone } = world;
    await addPerson(app, "bob");
    const secret = new Encrypter(KEY).encrypt(readSecret(phone.secret), {
      context: "framework_totp_secrets.secret bob",
    });
    await app.resolve(TotpSecrets).insert({ userId: "bob", secret, lastStep: 0, createdAt: 1 });
    const code = showCode(phone.secret, clock);

    for (const user of ["ada", "bob"])
      expect((await finish(await givePassword(app, user), { code })).status, user).to.equal(200);
  });

  it("has no use for the secret of another user's row", async () => {
    await using world = await startWithPhone();
    const { app, clock, phone } = world;
    await addPerson(app, "bob");
    const found = await app.resolve(TotpSecrets).find("ada");
    await app.resolve(TotpSecrets).insert({ userId: "bob", secret: found?.secret ?? "", lastStep: 0, createdAt: 1 });

    expect((await finish(await givePassword(app, "bob"), { code: showCode(phone.secret, clock) })).status).to.equal(
      401,
    );
  });

  it("waits for ten minutes, in the session of the password", async () => {
    await using world = await startWithPhone();
    const { app, clock, phone } = world;
    const client = await givePassword(app, "ada");
    const other = await finish(app.withCookies(), { code: showCode(phone.secret, clock) });
    clock.advance(10 * MINUTE_MS + 1);

    expect(await other.json()).to.deep.equal({ kind: "expired" });
    expect(await (await finish(client, { code: showCode(phone.secret, clock) })).json()).to.deep.equal({
      kind: "expired",
    });
  });

  it("ends when the password changes", async () => {
    await using world = await startWithPhone();
    const { app, clock, phone } = world;
    const client = await givePassword(app, "ada");
    const { stamp = "" } = (await app.resolve(Identities).find("ada")) ?? {};
    await app.resolve(Identities).setPassword("ada", { from: stamp, password: "hash", stamp: "new" });

    expect(await (await finish(client, { code: showCode(phone.secret, clock) })).json()).to.deep.equal({
      kind: "expired",
    });
  });

  it("allows five attempts on a user in fifteen minutes, by all clients, also for the right code", async () => {
    await using world = await startWithPhone();
    const { app, clock, phone } = world;
    await addPersonWithPhone(app, "bob", clock);
    const client = await givePassword(app, "ada");
    const other = await givePassword(app, "ada");
    for (const each of [client, other, client, other, client])
      expect((await finish(each, { code: "000000" })).status).to.equal(401);
    clock.advance(180_000 - 1);

    const locked = await finish(client, { code: showCode(phone.secret, clock) });

    await expectProblem(locked, { status: 429, slug: "rate-limit" });
    expect((await finish(await givePassword(app, "bob"), { code: "000000" })).status).to.equal(401);
    clock.advance(180_000);
    expect((await finish(client, { code: showCode(phone.secret, clock) })).status).to.equal(200);
  });

  it("refuses a page of another site", async () => {
    await using world = await startWithPhone();
    const client = await givePassword(world.app, "ada");

    const response = await finish(client, { code: "000000" }, { "sec-fetch-site": "cross-site" });

    await expectProblem(response, { status: 403, slug: "cross-site" });
  });
});

describe("a recovery code", () => {
  it("signs in once, of two browsers at the same time, in the form that a person types", async () => {
    await using world = await startWithPhone();
    const { app, phone } = world;
    const [first = "", second = ""] = phone.recoveryCodes;
    const clients = [await givePassword(app, "ada"), await givePassword(app, "ada")];

    const responses = await Promise.all(clients.map((client) => finish(client, { recoveryCode: first })));
    const typed = ` ${second.toUpperCase().replaceAll("-", " ")} `;

    expect(responses.map(({ status }) => status).toSorted((one, other) => one - other)).to.deep.equal([200, 401]);
    expect((await finish(await givePassword(app, "ada"), { recoveryCode: typed })).status).to.equal(200);
  });

  it("is none of another user", async () => {
    await using world = await startWithPhone();
    const { app, clock, phone } = world;
    await addPersonWithPhone(app, "bob", clock);

    const response = await finish(await givePassword(app, "bob"), { recoveryCode: phone.recoveryCodes[0] ?? "" });

    expect(response.status).to.equal(401);
  });
});

describe("the name of the application", () => {
  for (const issuer of [undefined, "", "a:b", "x".repeat(65)])
    it(`cannot be ${JSON.stringify(issuer)?.slice(0, 12)}`, () => {
      expect(() => secondStep({ issuer: issuer as string }))
        .to.throw()
        .with.property("code", "E_AUTH_OPTION");
    });

  it("is the only option", async () => {
    expect(() => secondStep({ issuer: "Shop", digits: 8 } as { issuer: string }))
      .to.throw()
      .with.property("code", "E_OPTION");
    await using app = await startAccounts({ bindings: secondStep({ issuer: "Shop" }) });
    await addPerson(app, "ada");
    expect((await signIn(app, "ada@shop.example", PASSWORD)).status).to.equal(200);
  });
});
