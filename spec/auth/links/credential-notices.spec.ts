/** The notices to the owner of an account whose credentials have changed. */
import { Application, Controller, inject, Module, Post, provide, Reply, routes } from "@stagecraft/framework";
import {
  authentication,
  AuthMails,
  type ChangeMail,
  type CredentialChange,
  CredentialNotices,
  NoCredentialNotices,
  PlainAuthMails,
} from "@stagecraft/framework/auth";
import { authDatabase } from "@stagecraft/framework/auth/db";
import { SessionConfig } from "@stagecraft/framework/session";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { AppUsers, KEY, mailsOf, startAccounts } from "../account-application.js";
import { AppDatabase } from "../auth-database.js";

const CHANGES: readonly CredentialChange[] = [
  "password",
  "email",
  "totp-added",
  "totp-removed",
  "recovery-codes-renewed",
  "recovery-code-used",
  "passkey-added",
  "passkey-removed",
];
const TO = "ada@shop.example";

const notices = routes("notices", "/notices", { send: Post("/") });

@Controller(notices)
class NoticeController {
  private readonly notices = inject(CredentialNotices);

  @notices.send async send() {
    for (const change of CHANGES) await this.notices.send(TO, change);
    return Reply.noContent();
  }
}

describe("a notice of changed credentials", () => {
  it("has a subject of its own for each change, no link, and the address alone", async () => {
    await using app = await startAccounts({ controllers: [NoticeController] });

    await app.post(notices.send.url());
    const mails = await mailsOf(app, CHANGES.length);

    expect(new Set(mails.map(({ subject }) => subject))).to.have.property("size", CHANGES.length);
    for (const { to, text, link } of mails) {
      expect([to, link]).to.deep.equal([TO, ""]);
      expect(text).to.include("If that was not you, ask for a new password at once");
    }
  });

  it("has the words of the application", async () => {
    class CompanyMails extends PlainAuthMails {
      override credentialsChanged({ to, change }: ChangeMail) {
        return super.credentialsChanged({ to: `${change}.${to}`, change });
      }
    }
    const bindings = [provide(AuthMails).useClass(CompanyMails)];
    await using app = await startAccounts({ controllers: [NoticeController], bindings });

    await app.post(notices.send.url());

    const receivers = (await mailsOf(app, CHANGES.length)).map(({ to }) => to);
    expect(receivers).to.have.members(CHANGES.map((change) => `${change}.${TO}`));
  });

  it("is none in an application without the mails of links, which needs no mailer", async () => {
    @Module({
      controllers: [NoticeController],
      providers: [
        AppUsers,
        provide(AppDatabase).useFactory(() => AppDatabase.on()),
        ...authentication({ users: AppUsers, keys: KEY }),
        ...authDatabase(AppDatabase),
      ],
    })
    class BareModule {}
    await using app = await testApp(Application.create(BareModule).session(SessionConfig.dev(KEY)));

    expect((await app.post(notices.send.url())).status).to.equal(204);
    expect(app.resolve(CredentialNotices)).to.be.instanceOf(NoCredentialNotices);
  });
});
