/** The mails to the owner of an account whose second step, passkeys or tokens change: one for each change that takes effect, without a secret. */
import { ApiTokens, CredentialNotices } from "@stagecraft/framework/auth";
import { provide } from "@stagecraft/framework";
import { FakeClock, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { addPerson, mailsOf, signInAs } from "./account-application.js";
import { keys, startPasskeys, toLocalhost } from "./passkeys/passkey-application.js";
import { type CeremonyOptions, SoftwareAuthenticator } from "./passkeys/software-authenticator.js";
import {
  addPersonWithPhone,
  finish,
  givePassword,
  post,
  security,
  showCode,
  startSecondSteps,
} from "./second-step/second-step-application.js";
import { createToken, startTokens } from "./tokens/token-application.js";

const OWNER = "ada@shop.example";

async function subjectsOf(app: TestApp, count: number): Promise<readonly string[]> {
  const mails = await mailsOf(app, count);
  for (const { to } of mails) expect(to).to.equal(OWNER);
  return mails.map(({ subject }) => subject);
}

describe("the owner of an account", () => {
  it("gets a mail when an app is added and removed, codes are new, and one is used", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    const { recoveryCodes } = await addPersonWithPhone(app, "ada", clock);
    const client = await givePassword(app, "ada");
    await finish(client, { recoveryCode: "aaaa-aaaa-aaaa-aaaa" });
    await finish(client, { recoveryCode: recoveryCodes[0] ?? "" });
    await post(client, security.renewCodes.url());
    await client.delete(security.removeTotp.url());
    await client.delete(security.removeTotp.url());

    expect(await subjectsOf(app, 4)).to.deep.equal([
      "An authenticator app was added",
      "A recovery code was used",
      "You have new recovery codes",
      "An authenticator app was removed",
    ]);
    const texts = (await mailsOf(app, 4)).map(({ text }) => text).join("\n");
    for (const code of recoveryCodes) expect(texts).to.not.include(code);
  });

  it("gets none for a change that is refused", async () => {
    const clock = new FakeClock();
    await using app = await startSecondSteps({ clock });
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    await post(client, security.startTotp.url());
    await post(client, security.confirmTotp.url(), { code: "000000" });
    await client.delete(security.removeTotp.url());
    await post(client, security.renewCodes.url());

    expect(await subjectsOf(app, 1)).to.deep.equal(["You have new recovery codes"]);
  });

  it("gets a mail when a passkey is added and removed", async () => {
    await using app = await startPasskeys();
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    const device = new SoftwareAuthenticator("localhost", toLocalhost(app));
    const usage = "second-step";
    const options = await post<CeremonyOptions>(client, keys.startRegistration.url(), { usage });
    const json = { usage, response: device.create(options) };
    const { id } = await post<{ id: string }>(client, keys.finishRegistration.url(), json);
    await client.delete(keys.remove.url(id));

    expect(await subjectsOf(app, 2)).to.deep.equal(["A passkey was added", "A passkey was removed"]);
  });

  it("gets a mail when a token is created, without its text", async () => {
    await using app = await startTokens();
    await addPerson(app, "ada");
    const { text } = await createToken(app);
    await createToken(app, "nobody");

    expect(await subjectsOf(app, 1)).to.deep.equal(["An API token was created"]);
    expect((await mailsOf(app, 1))[0]?.text).to.not.include(text);
  });
});

describe("a notice that cannot be sent", () => {
  it("changes nothing: neither the app nor the token is there", async () => {
    const clock = new FakeClock();
    class BrokenNotices extends CredentialNotices {
      override send(): Promise<void> {
        return Promise.reject(new Error("no queue"));
      }
    }
    const bindings = [provide(CredentialNotices).useClass(BrokenNotices)];
    await using app = await startSecondSteps({ clock, bindings });
    await addPerson(app, "ada");
    const client = await signInAs(app, "ada");
    const { secret } = await post<{ secret: string }>(client, security.startTotp.url());

    const response = await client.post(security.confirmTotp.url(), { json: { code: showCode(secret, clock) } });
    const token = await createToken(app).catch(String);

    expect(await app.resolve(ApiTokens).list("ada")).to.deep.equal([]);
    expect(response.status).to.equal(500);
    expect(token).to.include("no queue");
    expect(await (await client.get(security.show.url())).json()).to.deep.equal({ totp: false, recoveryCodes: 0 });
  });
});
