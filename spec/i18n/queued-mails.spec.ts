/** Mails that a job writes: in the language of the person who has caused them, also where the worker has seen no request. */
import { Application, type Context, Controller, inject, Module, Post, provide } from "@stagecraft/framework";
import { AuthMails, type ChangeMail, type LinkMail, type NoteMail, PlainAuthMails } from "@stagecraft/framework/auth";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Languages } from "@stagecraft/framework/i18n";
import { Jobs } from "@stagecraft/framework/jobs";
import { Mail, Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import { mailJobs, mailQueue } from "@stagecraft/framework/mail/jobs";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { account, addPerson, mailsOf, PASSWORD, signInAs, startAccounts } from "../auth/account-application.js";
import { temporaryFolder } from "../db/shop-database.js";
import { JobsDatabase, startedTables } from "../jobs/jobs-database.js";
import { until } from "../support/until.js";

const catalogs = { en: "hello = Hello", de: "hello = Hallo", "pt-BR": "hello = Olá" };
const languages = new Languages({ default: "en", catalogs });

class Greeting extends Mail<{ readonly language: string }> {
  subject(): string {
    return languages.in(this.data.language).t("hello");
  }

  text(): string {
    return `${this.subject()}\n`;
  }
}

@Controller("/greet")
class GreetController {
  private readonly languages = inject(Languages);
  private readonly mailer = inject(Mailer);

  @Post("/")
  async greet(ctx: Context) {
    const { tag } = await this.languages.of(ctx);
    await this.mailer.queue(new Greeting({ language: tag }).to(`${tag}@example.org`));
    return tag;
  }
}

@Module({ controllers: [GreetController] })
class GreetModule {}

const createMailer = (jobs: Jobs) => new MemoryMailer({ from: "shop@example.org", queue: mailQueue(jobs) });

/** An application that serves, or one that works. Both have the jobs in one file. */
function build(file: string, inWebProcess: boolean) {
  return Application.create(GreetModule).provide(
    provide(Languages).useValue(languages),
    provide(JobsDatabase).useFactory(() => new JobsDatabase(sqlite(file))),
    provide(Jobs).useFactory(() => new Jobs({ inWebProcess })),
    provide(Mailer).useFactory((resolve) => createMailer(resolve(Jobs))),
    mailJobs([Greeting]),
  );
}

describe("a queued mail", () => {
  it("has the language of the person who has caused it, in an application that sees no request", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("jobs.db");
    await startedTables(sqlite(file));
    await using web = await testApp(build(file, false));
    const accepted = ["de-AT", "pt-BR", "en", "xx"];
    for (const tag of accepted)
      expect((await web.post("/greet", { headers: { "Accept-Language": tag } })).status).to.equal(200);
    expect((web.resolve(Mailer) as MemoryMailer).sent).to.deep.equal([]);

    await using worker = await testApp(build(file, true));
    const mailer = worker.resolve(Mailer) as MemoryMailer;
    await until(() => mailer.sent.length === accepted.length);

    const shown = mailer.sent.map(({ recipients, subject }) => `${recipients.join()}: ${subject}`);
    expect(shown).to.have.members([
      "de@example.org: Hallo",
      "pt-BR@example.org: Olá",
      "en@example.org: Hello",
      "en@example.org: Hello",
    ]);
  });
});

/** Shows the tag that each mail has got. */
class TaggedMails extends PlainAuthMails {
  override confirmSignUp(mail: LinkMail) {
    return new Tagged(mail).to(mail.to);
  }

  override alreadySignedUp(mail: NoteMail) {
    return new Tagged(mail).to(mail.to);
  }

  override resetPassword(mail: LinkMail) {
    return new Tagged(mail).to(mail.to);
  }

  override signIn(mail: LinkMail) {
    return new Tagged(mail).to(mail.to);
  }

  override confirmEmail(mail: LinkMail) {
    return new Tagged(mail).to(mail.to);
  }

  override credentialsChanged(mail: ChangeMail) {
    return new Tagged(mail).to(mail.to);
  }
}

class Tagged extends Mail<NoteMail> {
  subject(): string {
    return String(this.data.language);
  }

  text(): string {
    return "url" in this.data ? String(this.data.url) : "a note";
  }
}

const TAGGED = provide(AuthMails).useClass(TaggedMails);
const start = () => startAccounts({ bindings: [TAGGED, provide(Languages).useValue(languages)] });

describe("a mail of the flows of accounts", () => {
  const inGerman = { "Accept-Language": "de" };

  it("has the language of the request of its flow", async () => {
    await using app = await start();
    const email = await addPerson(app, "ada");
    const ada = await signInAs(app, "ada");
    await ada.post(account.confirm.url(), { json: { password: PASSWORD } });

    const flows: readonly (readonly [path: string, json: object])[] = [
      [account.signUp.url(), { email: "new@shop.example", password: PASSWORD }],
      [account.signUp.url(), { email, password: PASSWORD }],
      [account.forgot.url(), { email }],
      [account.link.url(), { email }],
      [account.changeEmail.url(), { email: "other@shop.example" }],
      [account.changePassword.url(), { current: PASSWORD, password: "another horse battery" }],
    ];
    for (const [path, json] of flows)
      expect((await ada.post(path, { json, headers: inGerman })).status).to.be.oneOf([200, 202]);

    expect((await mailsOf(app, flows.length)).map(({ subject }) => subject)).to.deep.equal(flows.map(() => "de"));
  });

  it("has the language of the parameter before that of the header", async () => {
    await using app = await start();
    const email = await addPerson(app, "ada");

    await app.post(`${account.forgot.url()}?lang=pt-BR`, { json: { email }, headers: inGerman });

    expect((await mailsOf(app, 1))[0]?.subject).to.equal("pt-BR");
  });

  it("has no language in an application that has none", async () => {
    await using app = await startAccounts({ bindings: [TAGGED] });
    const email = await addPerson(app, "ada");

    await app.post(account.forgot.url(), { json: { email }, headers: inGerman });

    expect((await mailsOf(app, 1))[0]?.subject).to.equal("undefined");
  });
});
