/** Mails in the language of a visitor: a request queues them with the tag, and a job without the request sends them. */
import { Application, type Context, provide, Route, Routes } from "@stagecraft/framework";
import { Languages } from "@stagecraft/framework/i18n";
import { Jobs, MemoryJobs } from "@stagecraft/framework/jobs";
import { html, Mail, Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import { mailJobs, mailQueue } from "@stagecraft/framework/mail/jobs";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { rejectionOf } from "../support/rejection-of.js";
import { until } from "../support/until.js";

const languages = new Languages({
  default: "en",
  catalogs: { en: "mail-welcome = Welcome, { $name }", de: "mail-welcome = Willkommen, { $name }" },
});

class Welcome extends Mail<{ readonly name: string; readonly language: string }> {
  private readonly texts = languages.in(this.data.language);

  subject(): string {
    return this.texts.t("mail-welcome", { name: this.data.name });
  }

  text(): string {
    return this.subject();
  }

  override html() {
    return html`<p lang="${this.texts.tag}">${this.subject()}</p>`;
  }
}

const mailer = (queue?: ReturnType<typeof mailQueue>) =>
  new MemoryMailer({ from: "shop@example.org", ...(queue && { queue }) });

describe("a mail that a job sends", () => {
  it("has the language of the request that queued it", async () => {
    const builder = Application.create()
      .provide(
        provide(Languages).useValue(languages),
        provide(Jobs).useFactory(() => new Jobs({ store: new MemoryJobs() })),
        provide(Mailer).useFactory((resolve) => mailer(mailQueue(resolve(Jobs)))),
        mailJobs([Welcome]),
      )
      .routes(
        new Routes([
          Route.post("/welcome", async (ctx: Context) => {
            const { tag } = await languages.of(ctx);
            await app.resolve(Mailer).queue(new Welcome({ name: "<Ada>", language: tag }).to("ada@example.org"));
          }),
        ]),
      );
    await using app = await testApp(builder);
    const sender = app.resolve(Mailer) as MemoryMailer;

    await app.post("/welcome", { headers: { "Accept-Language": "de-AT" } });
    await until(() => sender.sent.length > 0);

    expect(sender.sent[0]?.subject).to.equal("Willkommen, <Ada>");
    expect(sender.sent[0]?.html).to.equal('<p lang="de">Willkommen, &lt;Ada&gt;</p>');
  });
});

describe("a mail with a message as subject", () => {
  it("is refused if a value has a line break", async () => {
    languages.start();
    const mail = new Welcome({ name: "Ada\r\nBcc: eve@example.org", language: "de" }).to("ada@example.org");

    expect(await rejectionOf(mailer().send(mail))).to.have.property("code", "E_MAIL_HEADER");
  });
});
