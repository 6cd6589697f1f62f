/** Passkeys in Chromium, whose virtual authenticator creates and signs real bytes: both ways to use them, and responses that are no proof. */
import { PasskeyStore } from "@stagecraft/framework/auth";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { launchBrowser } from "../../support/browser.js";
import { needs } from "../../support/machine.js";
import { account, addPerson } from "../account-application.js";
import { keys, removePassword, startPasskeys, Visit } from "./passkey-application.js";

const EMAIL = "ada@shop.example";
const EXPIRED = { kind: "expired" };

describe("passkeys", function () {
  this.timeout(120_000);
  let browser: Browser;

  before(needs("chromium"));
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser?.close());

  it("sign a person in without address and password, as both steps", async () => {
    await using app = await startPasskeys();
    await addPerson(app, "ada");
    const visit = await Visit.start(browser, app);
    await visit.signIn(EMAIL);
    const added = await visit.register("sign-in");
    await visit.post(account.signOut.url());
    const proof = await visit.sign();

    const signedIn = await visit.finish(proof);

    expect(added.body).to.have.property("kind", "added");
    expect(signedIn.body).to.deep.equal({ kind: "signed-in", userId: "ada" });
    expect((await visit.post(account.show.url(), {}, "GET")).status).to.equal(200);
    const [passkey] = await app.resolve(PasskeyStore).listOfUser("ada");
    expect(passkey).to.deep.include({ usage: "sign-in", name: "Phone", userId: "ada" });
    expect((await visit.signIn(EMAIL)).body).to.deep.equal({ kind: "signed-in", userId: "ada" });
    await visit.close();
  });

  it("are the second step of a sign-in with a password, and no sign-in of their own", async () => {
    await using app = await startPasskeys();
    await addPerson(app, "ada");
    const visit = await Visit.start(browser, app);
    await visit.signIn(EMAIL);
    await visit.register("second-step");
    await visit.post(account.signOut.url());
    // The options of a sign-in name no passkey, so the device is asked for this one.
    const [passkey] = await app.resolve(PasskeyStore).listOfUser("ada");
    const options = (await visit.post(keys.startSignIn.url())).body as object;
    const allowCredentials = [{ id: passkey?.credentialId, type: "public-key", transports: ["internal"] }];
    const misused = await visit.finish(await visit.get({ ...options, allowCredentials }));

    const first = await visit.signIn(EMAIL);
    const { body } = await visit.post(keys.startSecondStep.url());
    const second = await visit.post(keys.finishSecondStep.url(), { response: await visit.get(body) });

    expect(misused.status).to.equal(401);
    expect(first.body).to.deep.equal({ kind: "second-step" });
    expect(second.body).to.deep.equal({ kind: "signed-in", userId: "ada" });
    await visit.close();
  });

  it("refuse a response that is used again, of another ceremony, of another session, and one that is late", async () => {
    const clock = new FakeClock();
    await using app = await startPasskeys(clock);
    await addPerson(app, "ada");
    const visit = await Visit.start(browser, app);
    await visit.signIn(EMAIL);
    await visit.register("sign-in");
    const proof = await visit.sign();
    const other = await Visit.start(browser, app);
    await other.sign().catch(() => undefined);

    const elsewhere = await other.finish(proof);
    const first = await visit.finish(proof);
    const again = await visit.finish(proof);
    const late = await visit.sign();
    clock.advance(300_001);
    const tooLate = await visit.finish(late);
    const { body } = await visit.post(keys.startRegistration.url(), { usage: "second-step" });
    const ofRegistration = await visit.get({ challenge: (body as { challenge: string }).challenge, rpId: "localhost" });
    const otherCeremony = await visit.finish(ofRegistration);

    expect(elsewhere.status).to.equal(401);
    expect(first.body).to.have.property("kind", "signed-in");
    for (const each of [again, tooLate, otherCeremony]) expect(each.body).to.deep.equal(EXPIRED);
    await visit.close();
    await other.close();
  });

  it("refuse a counter that goes back, a person who is not verified, and changed bytes", async () => {
    const clock = new FakeClock();
    await using app = await startPasskeys(clock);
    await addPerson(app, "ada");
    const visit = await Visit.start(browser, app);
    await visit.signIn(EMAIL);
    await visit.register("sign-in");
    const store = app.resolve(PasskeyStore);
    const [passkey] = await store.listOfUser("ada");
    const { id = "", counter = 0 } = passkey ?? {};
    const statuses = [];

    await store.use(id, { from: counter, counter: 1000, challenge: "a", lastUsedAt: 1 });
    statuses.push((await visit.finish(await visit.sign())).status);
    await store.use(id, { from: 1000, counter, challenge: "b", lastUsedAt: 1 });
    // The browser would refuse the options, so the page asks for less than the server has asked for.
    const options = (await visit.post(keys.startSignIn.url())).body as object;
    await visit.device.send("WebAuthn.setUserVerified", {
      authenticatorId: visit.authenticatorId,
      isUserVerified: false,
    });
    statuses.push((await visit.finish(await visit.get({ ...options, userVerification: "discouraged" }))).status);
    await visit.device.send("WebAuthn.setUserVerified", {
      authenticatorId: visit.authenticatorId,
      isUserVerified: true,
    });
    clock.advance(900_000);
    for (const forge of [changeSignature, changeOrigin, changeHandle])
      statuses.push((await visit.finish(forge(await visit.sign()))).status);
    for (const wrong of [null, "text", {}, { id }]) {
      await visit.post(keys.startSignIn.url());
      statuses.push((await visit.finish(wrong)).status);
      clock.advance(200_000);
    }

    expect(statuses).to.deep.equal(statuses.map(() => 401));
    expect((await visit.finish(await visit.sign())).status).to.equal(200);
    await visit.close();
  });

  it("are listed, renamed and removed, but not the last way to sign in, and not by another person", async () => {
    await using app = await startPasskeys();
    await addPerson(app, "ada");
    await addPerson(app, "bob");
    const visit = await Visit.start(browser, app);
    await visit.signIn(EMAIL);
    const { body } = await visit.register("sign-in");
    const { id } = body as { id: string };
    const bob = await Visit.start(browser, app);
    await bob.signIn("bob@shop.example");

    const foreign = [
      await bob.post(keys.rename.url(id), { name: "Bob's" }),
      await bob.post(keys.remove.url(id), {}, "DELETE"),
    ];
    await visit.post(keys.rename.url(id), { name: "José 🔑" });
    const listed = await visit.post(keys.list.url(), {}, "GET");
    await removePassword(app, "ada");
    const last = await visit.post(keys.remove.url(id), {}, "DELETE");
    await app.resolve(PasskeyStore).insert(await toOther(app.resolve(PasskeyStore)));
    const removed = await visit.post(keys.remove.url(id), {}, "DELETE");

    expect(foreign.map((each) => each.body)).to.deep.equal([{ isRenamed: false }, { kind: "missing" }]);
    expect(listed.body).to.have.nested.property("[0].name", "José 🔑");
    expect(last.body).to.deep.equal({ kind: "last" });
    expect(removed.body).to.deep.equal({ kind: "removed" });
    await visit.close();
    await bob.close();
  });
});

interface Proof {
  readonly response: { readonly signature: string; readonly clientDataJSON: string; readonly userHandle: string };
}

function change(proof: unknown, values: (response: Proof["response"]) => object): unknown {
  const { response } = proof as Proof;
  return { ...(proof as object), response: { ...response, ...values(response) } };
}

const changeSignature = (proof: unknown) =>
  change(proof, ({ signature }) => ({
    signature: signature.slice(0, -8) + (signature.endsWith("AAAAAAAA") ? "BBBBBBBB" : "AAAAAAAA"),
  }));

const changeHandle = (proof: unknown) =>
  change(proof, ({ userHandle }) => ({
    userHandle: `${userHandle.startsWith("A") ? "B" : "A"}${userHandle.slice(1)}`,
  }));

const changeOrigin = (proof: unknown) =>
  change(proof, ({ clientDataJSON }) => {
    const data = JSON.parse(Buffer.from(clientDataJSON, "base64url").toString()) as object;
    const text = JSON.stringify({ ...data, origin: "https://evil.example" });
    return { clientDataJSON: Buffer.from(text).toString("base64url") };
  });

async function toOther(store: PasskeyStore) {
  const [passkey] = await store.listOfUser("ada");
  if (passkey === undefined) throw new Error("ada has no passkey");
  return { ...passkey, id: "b".repeat(64) };
}
