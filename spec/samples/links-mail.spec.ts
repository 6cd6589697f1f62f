/** The welcome of the sample: sent after the answer, only to an address, and shown on the preview page. */

import { provide } from "@stagecraft/framework";
import { Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Welcome } from "../../samples/links/accounts/welcome.js";
import { linksApplication } from "../../samples/links/application.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { until } from "../support/until.js";

const started = async () => {
  const mailer = new MemoryMailer({ from: "links@example.org" });
  const app = await testApp(linksApplication(settingsFrom({})), provide(Mailer).useValue(mailer));
  return { app, mailer };
};

const password = "a long password";

describe("links", () => {
  it("welcomes a new account by mail, and shows the mail on the preview page", async () => {
    const { app, mailer } = await started();
    await using _running = app;

    const answer = await app
      .withCsrf()
      .post("/account/sign-up", { form: { name: "ada", password, email: "ada@example.org" } });
    await until(() => mailer.sent.length > 0);

    expect(answer.status).to.equal(303);
    expect(mailer.expectSent(Welcome, { to: "ada@example.org" }).subject).to.equal("Welcome to links, ada");
    const page = await (await app.get("/dev/mails")).text();
    expect(page).to.include("a new account").and.include("Welcome to links, ada");
  });

  it("sends no mail without an address, and makes no account with a wrong one", async () => {
    const { app, mailer } = await started();
    await using _running = app;
    const client = app.withCsrf();

    await client.post("/account/sign-up", { form: { name: "bob", password, email: "" } });
    await client.post("/account/sign-up", {
      form: { name: "eve", password, email: "eve@example.org\r\nBcc: a@example.org" },
    });
    await client.post("/account/sign-up", { form: { name: "eve", password, email: "eve@example.org" } });
    await until(() => mailer.sent.length > 0);

    // The name was free the second time.
    expect(mailer.sent.map(({ recipients }) => recipients)).to.deep.equal([["eve@example.org"]]);
  });
});
