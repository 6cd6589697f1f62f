/** A second step while a store is down, a clock goes back, or many requests come at once: no code is lost, and none counts twice. */
import { provide } from "@stagecraft/framework";
import { Identities, SecondStep, TotpSecrets } from "@stagecraft/framework/auth";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { account, addPerson, AppUsers, signIn, signInAs, startAccounts } from "../account-application.js";
import {
  addPersonWithPhone,
  finish,
  givePassword,
  post,
  security,
  showCode,
  startSecondSteps,
} from "./second-step-application.js";

const PERIOD_MS = 30_000;
const show = account.show.url();

/** Makes a method of a store fail until the returned function is called. */
function breakMethod<K extends string>(store: Record<K, unknown>, name: K): () => void {
  const working = store[name];
  store[name] = () => Promise.reject(new Error("the database is down"));
  return () => void (store[name] = working);
}

describe("a second step while a store is down", () => {
  for (const method of ["find", "use"] as const)
    it(`is a 500 when ${method} fails, and the same code finishes the sign-in afterwards`, async () => {
      const clock = new FakeClock();
      await using app = await startSecondSteps({ clock });
      const { secret } = await addPersonWithPhone(app, "ada", clock);
      clock.advance(PERIOD_MS);
      const client = await givePassword(app, "ada");
      const code = showCode(secret, clock);
      const repair = breakMethod(app.resolve(TotpSecrets), method);

      const failed = await finish(client, { code });
      const between = (await client.get(show)).status;
      repair();

      expect([failed.status, between]).to.deep.equal([500, 401]);
      expect((await finish(client, { code })).status).to.equal(200);
    });

  it("signs no person in by the password alone when it cannot be known whether there is one", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    await addPersonWithPhone(app, "ada", clock);
    const client = app.withCookies();
    breakMethod(app.resolve(TotpSecrets), "find");

    expect((await signIn(client, "ada@shop.example")).status).to.equal(500);
    expect((await client.get(show)).status).to.equal(401);
  });

  it("signs no person in where the identity cannot be read", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    const { secret } = await addPersonWithPhone(app, "ada", clock);
    clock.advance(PERIOD_MS);
    const client = await givePassword(app, "ada");
    breakMethod(app.resolve(Identities), "find");

    expect((await finish(client, { code: showCode(secret, clock) })).status).to.equal(500);
    expect((await client.get(show)).status).to.be.oneOf([401, 500]);
  });

  it("is asked for by a port of the application", async () => {
    class EverybodyTwice extends SecondStep {
      override isRequired(): Promise<boolean> {
        return Promise.resolve(true);
      }
    }
    await using app = await startAccounts({ bindings: [provide(SecondStep).useClass(EverybodyTwice)] });
    await addPerson(app, "ada");

    expect(await (await signIn(app, "ada@shop.example")).json()).to.deep.equal({ kind: "second-step" });
  });
});

describe("a second step of many requests", () => {
  it("takes one of ten requests with one code, in one session", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    const { secret } = await addPersonWithPhone(app, "ada", clock);
    clock.advance(PERIOD_MS);
    const client = await givePassword(app, "ada");
    const code = showCode(secret, clock);

    const texts = await Promise.all(Array.from({ length: 10 }, async () => (await finish(client, { code })).text()));

    // The session has another id after the one that succeeds.
    expect(texts.filter((text) => text.includes("signed-in"))).to.have.lengthOf(1);
    for (const text of texts) expect(text).to.match(/"signed-in"|"expired"|"status":(?:401|429)/);
  });

  it("does not finish for a user who was deactivated meanwhile", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    const { secret } = await addPersonWithPhone(app, "ada", clock);
    clock.advance(PERIOD_MS);
    const client = await givePassword(app, "ada");
    app.resolve(AppUsers).deactivated.add("ada");

    expect((await finish(client, { code: showCode(secret, clock) })).status).to.equal(401);
    expect((await client.get(show)).status).to.equal(401);
  });

  it("locks the owner out while a thief of the password tries codes, until a new password", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    const { secret } = await addPersonWithPhone(app, "ada", clock);
    clock.advance(PERIOD_MS);
    const thief = await givePassword(app, "ada");
    const statuses = [];
    for (let attempt = 0; attempt < 6; attempt++) statuses.push((await finish(thief, { code: "000000" })).status);
    const { stamp = "", password = "" } = (await app.resolve(Identities).find("ada")) ?? {};
    const owner = await givePassword(app, "ada");
    const locked = await finish(owner, { code: showCode(secret, clock) });
    await app.resolve(Identities).setPassword("ada", { from: stamp, password, stamp: "new" });
    const again = await givePassword(app, "ada");

    expect(statuses).to.deep.equal([401, 401, 401, 401, 401, 429]);
    expect(locked.status).to.equal(429);
    expect(Number(locked.headers.get("retry-after"))).to.be.within(1, 180);
    expect(await (await finish(thief, { code: "000000" })).json()).to.deep.equal({ kind: "expired" });
    expect((await finish(again, { code: showCode(secret, clock) })).status).to.equal(200);
  });
});

describe("a code of an app while the clock goes back", () => {
  it("counts only when the time of the last one is over", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    const { secret } = await addPersonWithPhone(app, "ada", clock);
    const { lastStep = 0 } = (await app.resolve(TotpSecrets).find("ada")) ?? {};
    const found = await app.resolve(TotpSecrets).find("ada");
    // The process ran five periods ahead when the last code was used.
    if (found !== undefined) await app.resolve(TotpSecrets).use(found, { step: lastStep + 5, secret: found.secret });
    const client = await givePassword(app, "ada");
    const statuses = [];
    for (let period = 0; period < 3; period++) {
      statuses.push((await finish(client, { code: showCode(secret, clock) })).status);
      clock.advance(2 * PERIOD_MS);
    }

    expect(statuses).to.deep.equal([401, 401, 401]);
    expect((await finish(client, { code: showCode(secret, clock) })).status).to.equal(200);
  });
});

describe("an app in two tabs", () => {
  it("has the secret that was shown last, and an added one stays", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    const start = () => post<{ kind: string; secret: string }>(client, security.startTotp.url());
    const confirm = (code: string) => post<{ kind: string }>(client, security.confirmTotp.url(), { code });
    const [first, second] = [await start(), await start()];

    expect(await confirm(showCode(first.secret, clock))).to.deep.equal({ kind: "refused" });
    expect(await confirm(showCode(second.secret, clock))).to.have.property("kind", "added");
    expect(await start()).to.deep.equal({ kind: "exists" });
    expect(await confirm(showCode(first.secret, clock))).to.deep.equal({ kind: "expired" });
  });
});
