/**
 * The mails of the flows. An application writes them in its words and languages; `PlainAuthMails` has short ones in plain English.
 *
 * A mail about an address with no account is not sent; one about an address with an account must not differ for a person who did not ask.
 *
 * @example
 * class AppMails extends PlainAuthMails {
 *   override resetPassword({ to, url }: LinkMail) { return new ResetPassword({ url }).to(to); }
 * }
 * providers: [...authentication({ users: AppUsers, keys }), provide(AuthMails).useClass(AppMails)]
 */
import { Mail, type OutgoingMail } from "../../mail/mail.js";

export interface NoteMail {
  /** The address, in its normal form. */
  readonly to: string;
}

export interface LinkMail extends NoteMail {
  /** A secret: it belongs into the mail alone. */
  readonly url: string;
  readonly expiresAt: Date;
}

export abstract class AuthMails {
  /** Confirms a sign-up. */
  abstract confirmSignUp(mail: LinkMail): OutgoingMail;

  /** Somebody has signed up with the address of an account. */
  abstract alreadySignedUp(mail: NoteMail): OutgoingMail;

  abstract resetPassword(mail: LinkMail): OutgoingMail;

  abstract signIn(mail: LinkMail): OutgoingMail;

  /** To the new address. */
  abstract confirmEmail(mail: LinkMail): OutgoingMail;

  /** To the address until now. */
  abstract emailChanged(mail: NoteMail): OutgoingMail;

  abstract passwordChanged(mail: NoteMail): OutgoingMail;
}

export class PlainAuthMails extends AuthMails {
  override confirmSignUp({ to, url, expiresAt }: LinkMail): OutgoingMail {
    return write(to, "Confirm your address", [
      "Confirm your address, and your account is ready.",
      ...linkTo(url, expiresAt),
    ]);
  }

  override alreadySignedUp({ to }: NoteMail): OutgoingMail {
    const text = ["Somebody has signed up with your address. You have an account already, and it is unchanged."];
    return write(to, "You have an account already", [...text, "If that was you, sign in, or ask for a new password."]);
  }

  override resetPassword({ to, url, expiresAt }: LinkMail): OutgoingMail {
    return write(to, "Set a new password", ["Set a new password here.", ...linkTo(url, expiresAt)]);
  }

  override signIn({ to, url, expiresAt }: LinkMail): OutgoingMail {
    return write(to, "Sign in", ["Sign in here.", ...linkTo(url, expiresAt)]);
  }

  override confirmEmail({ to, url, expiresAt }: LinkMail): OutgoingMail {
    return write(to, "Confirm your new address", [
      "Confirm the new address of your account.",
      ...linkTo(url, expiresAt),
    ]);
  }

  override emailChanged({ to }: NoteMail): OutgoingMail {
    return write(to, "Your address has changed", ["Your account has another address from now on.", NOT_YOU]);
  }

  override passwordChanged({ to }: NoteMail): OutgoingMail {
    return write(to, "Your password has changed", ["Your account has a new password from now on.", NOT_YOU]);
  }
}

const NOT_YOU = "If that was not you, ask for a new password at once, and write to us.";

function linkTo(url: string, expiresAt: Date): readonly string[] {
  return [url, `The link works once, until ${expiresAt.toUTCString()}. If you did not ask for it, ignore this mail.`];
}

function write(to: string, subject: string, paragraphs: readonly string[]): OutgoingMail {
  return new PlainAuthMail({ subject, paragraphs }).to(to);
}

class PlainAuthMail extends Mail<{ readonly subject: string; readonly paragraphs: readonly string[] }> {
  override subject(): string {
    return this.data.subject;
  }

  override text(): string {
    return `${this.data.paragraphs.join("\n\n")}\n`;
  }
}
