/**
 * The job that sends the mails of the flows. A request dispatches it for known and unknown addresses alike, and the job finds out whether
 * there is an account: so the time of a response tells nothing. Its payload has addresses and ids, and no link: the URL is signed when the
 * mail is written.
 */
import { inject } from "../../di/construction/inject.js";
import { markListed } from "../../di/unlisted.js";
import { Handles } from "../../jobs/handles.js";
import { FinalJobError } from "../../jobs/job-context.js";
import { job } from "../../jobs/job.js";
import { Jobs } from "../../jobs/jobs.js";
import { MailContentError, MailRefusedError } from "../../mail/mail-error.js";
import type { OutgoingMail } from "../../mail/mail.js";
import { Mailer } from "../../mail/mailer.js";
import { AuthUsers } from "../auth-users.js";
import { type CredentialChange, CredentialNotices } from "../credential-notices.js";
import { Identities } from "../identities.js";
import { AuthMails, type LinkMail } from "./auth-mails.js";
import { SignedLinks } from "./signed-links.js";
import type { LinkValues } from "./single-use-links.js";

interface MailLanguage {
  /** The tag; unset where the application has no languages. */
  readonly language?: string | undefined;
}

interface LinkedMailJob extends MailLanguage {
  readonly kind: "sign-up" | "email";
  readonly email: string;
  /** The id of a link that exists already. */
  readonly link: string;
}

interface ChangeMailJob extends MailLanguage {
  readonly kind: "changed";
  readonly email: string;
  readonly change: CredentialChange;
}

interface AddressMailJob extends MailLanguage {
  readonly kind: "sign-in" | "reset";
  readonly email: string;
}

type AuthMailJob = LinkedMailJob | ChangeMailJob | AddressMailJob;

export const authMail = job<AuthMailJob>("framework.auth.mail");

/** Bound by `authentication()` with `links`. */
export class MailedCredentialNotices extends CredentialNotices {
  private readonly jobs = inject(Jobs);

  override async send(email: string, change: CredentialChange, language?: string): Promise<void> {
    await this.jobs.dispatch(authMail, { kind: "changed", email, change, language });
  }
}

export class AuthMailJobs {
  static {
    // A process that dispatches these jobs and runs none imports this file too.
    markListed(this);
  }

  private readonly mailer = inject(Mailer);
  private readonly mails = inject(AuthMails);
  private readonly identities = inject(Identities);
  private readonly users = inject(AuthUsers);
  private readonly links = inject(SignedLinks);

  @Handles(authMail)
  async send(payload: AuthMailJob): Promise<void> {
    const mail = await this.write(payload);
    if (mail === undefined) return;
    try {
      await this.mailer.send(mail);
    } catch (error) {
      // A retry cannot succeed after either of these two errors.
      if (error instanceof MailRefusedError || error instanceof MailContentError)
        throw new FinalJobError(error.message, { cause: error });
      throw error;
    }
  }

  private async write(payload: AuthMailJob): Promise<OutgoingMail | undefined> {
    if ("link" in payload) return this.writeToAddress(payload);
    if (!("change" in payload)) return this.writeToIdentity(payload);
    const { email: to, change, language } = payload;
    return this.mails.credentialsChanged({ to, change, language });
  }

  /** The address of a new account, or the new address of one. */
  private async writeToAddress({ kind, email, link: id, language }: LinkedMailJob): Promise<OutgoingMail | undefined> {
    if ((await this.identities.findByEmail(email)) !== undefined)
      return this.mails.alreadySignedUp({ to: email, language });
    const link = await this.links.findForMail(id, kind);
    if (link === undefined) return undefined;
    const mail = this.toMail(link, language);
    return kind === "email" ? this.mails.confirmEmail(mail) : this.mails.confirmSignUp(mail);
  }

  private async writeToIdentity({ email, kind: purpose, language }: AddressMailJob): Promise<OutgoingMail | undefined> {
    const identity = await this.identities.findByEmail(email);
    if (identity === undefined || !(await this.users.canSignIn(identity.userId))) return undefined;
    const { userId, stamp } = identity;
    const mail = this.toMail(await this.links.add({ purpose, userId, email, stamp }), language);
    return purpose === "reset" ? this.mails.resetPassword(mail) : this.mails.signIn(mail);
  }

  private toMail(link: LinkValues, language: string | undefined): LinkMail {
    return { to: link.email, url: this.links.toUrl(link), expiresAt: new Date(link.expiresAt), language };
  }
}
