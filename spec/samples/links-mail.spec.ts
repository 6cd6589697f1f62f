/** The mail of a sign-up: sent by a job, shown on the preview page with a link that a developer follows, and none for a wrong form. */
import { Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { ConfirmSignUp } from "../../samples/links/accounts/mails.js";
import { linksApplication } from "../../samples/links/application.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { cheapPasswords } from "../support/cheap-passwords.js";
import { pageIn } from "../support/page-visit.js";
import { findMailPath, PASSWORD } from "../support/sample-people.js";
import { judgeResponses } from "../support/judged-responses.js";
import { describeLinks } from "../support/sample-documents.js";

const PATH = "/account/sign-up";
const ADA = { email: "ada@example.org", password: PASSWORD };

const started = (environment = {}) => testApp(linksApplication(settingsFrom(environment)), cheapPasswords());

describe("links", function () {
  this.timeout(120_000);
  judgeResponses(describeLinks);

  it("sends the link of a sign-up by mail, and shows it on the preview page", async () => {
    await using app = await started();

    const response = await app.withCsrf().post(PATH, { form: ADA });
    const link = await findMailPath(app, ADA.email, "Confirm your address");

    expect(pageIn(await response.text()).props).to.include({ email: ADA.email, mails: "/dev/mails" });
    const mailer = app.resolve(Mailer);
    if (!(mailer instanceof MemoryMailer)) throw new Error("the mails are not in memory");
    expect(mailer.expectSent(ConfirmSignUp, { to: ADA.email }).html).to.include("Confirm your address</a>");
    const list = await (await app.get("/dev/mails")).text();
    expect(list).to.include("a sign-up").and.include("ada@example.org");
    const shown = await app.get(/href="(\/dev\/mails\/sent\/[^"]*)"/.exec(list)?.[1] ?? "");
    expect(await shown.text()).to.include(`${link.replaceAll("&", "&amp;")}</a>`);
  });

  it("sends no mail for a wrong form, and says nothing of mails where a server sends them", async () => {
    await using app = await started({ SMTP_URL: "smtp://127.0.0.1:1" });
    const client = app.withCsrf();

    const wrong = await client.post(PATH, { form: { ...ADA, email: "eve@example.org\r\nBcc: a@example.org" } });
    const right = await client.post(PATH, { form: ADA });
    await findMailPath(app, ADA.email, "Confirm your address");

    expect([wrong.status, wrong.headers.get("location")]).to.deep.equal([303, PATH]);
    expect(pageIn(await right.text()).props).to.include({ mails: null });
    const mailer = app.resolve(Mailer);
    expect(mailer instanceof MemoryMailer && mailer.sent.length).to.equal(1);
  });
});
