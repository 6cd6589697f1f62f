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
import type { CredentialChange } from "../credential-notices.js";

export interface NoteMail {
  /** The address, in its normal form. */
  readonly to: string;
  /** The tag of the language of the request that caused the mail, for `languages.in(tag)`. Unset where the application has no languages. */
  readonly language?: string | undefined;
}

export interface ChangeMail extends NoteMail {
  readonly change: CredentialChange;
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

  /** To the owner; for a change of the address to the one until now. */
  abstract credentialsChanged(mail: ChangeMail): OutgoingMail;
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

  override credentialsChanged({ to, change }: ChangeMail): OutgoingMail {
    const [subject, text] = CHANGES[change];
    return write(to, subject, [text, NOT_YOU]);
  }
}

const CHANGES: Readonly<Record<CredentialChange, readonly [subject: string, text: string]>> = {
  password: ["Your password has changed", "Your account has a new password from now on."],
  email: ["Your address has changed", "Your account has another address from now on."],
  "totp-added": [
    "An authenticator app was added",
    "A sign-in to your account asks for a code of this app from now on.",
  ],
  "totp-removed": [
    "An authenticator app was removed",
    "A sign-in to your account asks for no code of an app any more.",
  ],
  "recovery-codes-renewed": ["You have new recovery codes", "The recovery codes until now are not valid any more."],
  "recovery-code-used": ["A recovery code was used", "Somebody has signed in to your account with a recovery code."],
  "passkey-added": ["A passkey was added", "Your account has a further passkey from now on."],
  "passkey-removed": ["A passkey was removed", "Your account has a passkey less from now on."],
  "provider-linked": ["An account was linked", "An account at another service signs in to yours from now on."],
  "provider-unlinked": ["An account was unlinked", "An account at another service does not sign in to yours any more."],
  "api-token-created": ["An API token was created", "A program with this token may act for you from now on."],
};

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
