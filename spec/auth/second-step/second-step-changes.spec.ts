/** An authenticator app is added and removed, and recovery codes are renewed: what each asks for, and which sessions end. */
import { Identities, TotpSecrets } from "@stagecraft/framework/auth";
import { expectProblem, FakeClock, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { account, addPerson, PASSWORD, signIn, signInAs } from "../account-application.js";
import {
  addPersonWithPhone,
  finish,
  givePassword,
  post,
  security,
  showCode,
  startSecondSteps,
} from "./second-step-application.js";

const show = account.show.url();
const start = security.startTotp.url();
const confirm = security.confirmTotp.url();
const PERIOD_MS = 30_000;
const MINUTE_MS = 60_000;

interface Added {
  readonly kind: string;
  readonly recoveryCodes: readonly string[];
}

interface Started {
  readonly kind: string;
  readonly secret: string;
  readonly uri: string;
}

/** A client that has given the password, and a code or a recovery code. */
async function signInFully(app: TestApp, proof: { code?: string; recoveryCode?: string }): Promise<TestClient> {
  const client = await givePassword(app, "ada");
  expect((await finish(client, proof)).status).to.equal(200);
  return client;
}

const statusOf = async (client: TestClient) => (await client.get(security.show.url())).json();

describe("an authenticator app", () => {
  it("is added by the first code of the secret that the person has seen", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");

    const { kind, secret, uri } = await post<Started>(client, start);
    const before = await statusOf(client);
    const refused = await post<Added>(client, confirm, { code: "000000" });
    const added = await post<Added>(client, confirm, { code: showCode(secret, clock) });

    expect(kind).to.equal("started");
    expect(secret).to.match(/^[A-Z2-7]{32}$/);
    expect(uri).to.equal(
      `otpauth://totp/The%20Shop:ada%40shop.example?secret=${secret}&issuer=The%20Shop&algorithm=SHA1&digits=6&period=30`,
    );
    expect(before).to.deep.equal({ totp: false, recoveryCodes: 0 });
    expect(refused).to.deep.equal({ kind: "refused" });
    expect(added.kind).to.equal("added");
    expect(new Set(added.recoveryCodes).size).to.equal(10);
    for (const code of added.recoveryCodes) expect(code).to.match(/^([a-z2-7]{4}-){5}[a-z2-7]{4}$/);
    expect(await statusOf(client)).to.deep.equal({ totp: true, recoveryCodes: 10 });
    expect(await post(client, start)).to.deep.equal({ kind: "exists" });
    expect(await post(client, confirm, { code: showCode(secret, clock, 1) })).to.deep.equal({ kind: "expired" });
  });

  it("ends the other sessions, and this one goes on", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    await addPerson(app, "ada");
    const other = await signInAs(app, "ada");
    const client = await signInAs(app, "ada");
    const { secret } = await post<Started>(client, start);

    await post(client, confirm, { code: showCode(secret, clock) });

    expect((await other.get(show)).status).to.equal(401);
    clock.advance(MINUTE_MS);
    expect((await client.get(show)).status).to.equal(200);
  });

  it("is not added after ten minutes, in another session, or for another person", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    await addPerson(app, "ada");
    await addPerson(app, "bob");
    const client = await signInAs(app, "ada");
    const { secret } = await post<Started>(client, start);
    const other = await signInAs(app, "ada");
    expect(await post(other, confirm, { code: showCode(secret, clock) })).to.deep.equal({ kind: "expired" });

    await signIn(client, "bob@shop.example");
    expect(await post(client, confirm, { code: showCode(secret, clock) })).to.deep.equal({ kind: "expired" });
    const late = await signInAs(app, "ada");
    const again = await post<Started>(late, start);
    clock.advance(10 * MINUTE_MS + 1);
    expect(await post(late, confirm, { code: showCode(again.secret, clock) })).to.deep.equal({ kind: "expired" });
  });

  it("is added by one of two browsers at the same time", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    await addPerson(app, "ada");
    const clients = [await signInAs(app, "ada"), await signInAs(app, "ada")];
    const started: Started[] = [];
    for (const client of clients) started.push(await post<Started>(client, start));

    const responses = await Promise.all(
      clients.map((client, at) => client.post(confirm, { json: { code: showCode(started[at]?.secret ?? "", clock) } })),
    );
    const texts = await Promise.all(responses.map((each) => each.text()));

    expect(texts.filter((text) => text.includes('"kind":"added"'))).to.have.lengthOf(1);
  });

  it("is removed with its recovery codes, and the next sign-in asks for none", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    const { secret } = await addPersonWithPhone(app, "ada", clock);
    clock.advance(PERIOD_MS);
    const client = await signInFully(app, { code: showCode(secret, clock) });
    const other = await signInFully(app, { code: showCode(secret, clock, 1) });

    const removed = await client.delete(security.removeTotp.url());

    expect(await removed.json()).to.deep.equal({ isRemoved: true });
    expect((await other.get(show)).status).to.equal(401);
    expect(await statusOf(client)).to.deep.equal({ totp: false, recoveryCodes: 0 });
    expect(await (await signIn(app, "ada@shop.example")).json()).to.deep.equal({ kind: "signed-in", userId: "ada" });
    expect(await (await client.delete(security.removeTotp.url())).json()).to.deep.equal({ isRemoved: false });
  });

  it("is added, confirmed and removed after a recent confirmation alone, and by no other site", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    const headers = { "sec-fetch-site": "cross-site" };
    const attempts = (more: object = {}) => [
      () => client.post(start, more),
      () => client.post(confirm, { json: { code: "000000" }, ...more }),
      () => client.delete(security.removeTotp.url(), more),
      () => client.post(security.renewCodes.url(), more),
    ];

    for (const attempt of attempts({ headers }))
      await expectProblem(await attempt(), { status: 403, slug: "cross-site" });
    clock.advance(15 * MINUTE_MS);
    for (const attempt of attempts()) await expectProblem(await attempt(), { status: 403, slug: "confirmation" });
    await client.post(account.confirm.url(), { json: { password: PASSWORD } });
    for (const attempt of attempts()) expect((await attempt()).status).to.equal(200);
  });

  it("does not change in a session whose credentials have changed", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    await client.get(show);
    const { secret } = await post<Started>(client, start);
    await app.resolve(Identities).setStamp("ada", { from: "stamp of ada", stamp: "other" });

    const response = await client.post(confirm, { json: { code: showCode(secret, clock) } });

    await expectProblem(response, { status: 409, slug: "conflict" });
    expect(await app.resolve(TotpSecrets).find("ada")).to.equal(undefined);
  });
});

describe("new recovery codes", () => {
  it("replace the codes until now", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    const { recoveryCodes: old } = await addPersonWithPhone(app, "ada", clock);
    const client = await signInFully(app, { recoveryCode: old[0] ?? "" });
    expect(await statusOf(client)).to.deep.equal({ totp: true, recoveryCodes: 9 });

    const { recoveryCodes } = await post<Added>(client, security.renewCodes.url());

    expect(await statusOf(client)).to.deep.equal({ totp: true, recoveryCodes: 10 });
    expect((await finish(await givePassword(app, "ada"), { recoveryCode: old[1] ?? "" })).status).to.equal(401);
    await signInFully(app, { recoveryCode: recoveryCodes[1] ?? "" });
  });
});
