/** The mails of the support desk in the languages of their receivers. */
import { type LinkMail, PlainAuthMails } from "@stagecraft/framework/auth";
import { Mail } from "@stagecraft/framework/mail";
import { languages } from "./languages.js";

export class TicketReceived extends Mail<{ readonly subject: string; readonly language: string }> {
  subject() {
    return languages.in(this.data.language).t("mail-received", { subject: this.data.subject });
  }

  text() {
    return `${this.subject()}\n`;
  }
}

/** A person who has no account yet reads it in each language. */
export class ConfirmAddress extends Mail<{ readonly url: string }> {
  private readonly lines = languages.tags.map((tag) => languages.in(tag).t("mail-confirm"));

  subject() {
    return this.lines.join(" · ");
  }

  text() {
    return `${this.lines.join("\n")}\n\n${this.data.url}\n`;
  }
}

export class DeskMails extends PlainAuthMails {
  override confirmSignUp({ to, url }: LinkMail) {
    return new ConfirmAddress({ url }).to(to);
  }
}
