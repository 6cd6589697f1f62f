/** The welcome of the sample: sent by a job, only to an address, and shown on the preview page. */

import { Mailer, type MailQueue, MemoryMailer } from "@stagecraft/framework/mail";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Welcome } from "../../samples/links/accounts/welcome.js";
import { linksApplication } from "../../samples/links/application.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { cheapPasswords } from "../support/cheap-passwords.js";
import { until } from "../support/until.js";
import { judgeResponses } from "../support/judged-responses.js";
import { describeLinks } from "../support/sample-documents.js";

const mailer = (queue: MailQueue) => new MemoryMailer({ from: "links@example.org", queue });

const started = async () => {
  const app = await testApp(linksApplication(settingsFrom({}), { mailer }), cheapPasswords());
  return { app, sent: app.resolve(Mailer) as MemoryMailer };
};

const password = "a long password";

describe("links", function () {
  this.timeout(120_000);
  judgeResponses(describeLinks);

  it("welcomes a new account by mail, and shows the mail on the preview page", async () => {
    const { app, sent } = await started();
    await using _running = app;

    const response = await app
      .withCsrf()
      .post("/account/sign-up", { form: { name: "ada", password, email: "ada@example.org" } });
    await until(() => sent.sent.length > 0);

    expect(response.status).to.equal(303);
    expect(sent.expectSent(Welcome, { to: "ada@example.org" }).subject).to.equal("Welcome to links, ada");
    const page = await (await app.get("/dev/mails")).text();
    expect(page).to.include("a new account").and.include("Welcome to links, ada");
  });

  it("sends no mail without an address, and makes no account with a wrong one", async () => {
    const { app, sent } = await started();
    await using _running = app;
    const client = app.withCsrf();

    await client.post("/account/sign-up", { form: { name: "bob", password, email: "" } });
    await client.post("/account/sign-up", {
      form: { name: "eve", password, email: "eve@example.org\r\nBcc: a@example.org" },
    });
    await client.post("/account/sign-up", { form: { name: "eve", password, email: "eve@example.org" } });
    await until(() => sent.sent.length > 0);

    // The name was free the second time.
    expect(sent.sent.map(({ recipients }) => recipients)).to.deep.equal([["eve@example.org"]]);
  });
});
