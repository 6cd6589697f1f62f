/** The mails about accounts. A job writes them, in the language of the request that has caused them. */
import { type ChangeMail, type LinkMail, type NoteMail, PlainAuthMails } from "@stagecraft/framework/auth";
import { html, Mail } from "@stagecraft/framework/mail";
import { languages } from "../languages.js";

interface Texts {
  readonly language: string | undefined;
}

/** The mail that a sign-up waits for. */
export class ConfirmSignUp extends Mail<Texts & { readonly url: string }> {
  private readonly texts = languages.in(this.data.language);

  subject() {
    return this.texts.t("mail-confirm");
  }

  text() {
    const { t } = this.texts;
    const lead = `${t("mail-confirm-welcome")}\n\n${t("mail-confirm-text")}`;
    return `${lead}\n\n${this.data.url}\n\n${t("mail-confirm-once")}\n`;
  }

  override html() {
    const { t, tag } = this.texts;
    return html`<div lang="${tag}">
      <p>${t("mail-confirm-welcome")}</p>
      <p>${t("mail-confirm-text")}</p>
      <p><a href="${this.data.url}">${t("mail-confirm")}</a></p>
      <p>${t("mail-confirm-once")}</p>
    </div>`;
  }

  static readonly previews = {
    "a sign-up": () => ConfirmSignUp.example("en"),
    "a sign-up in German": () => ConfirmSignUp.example("de"),
  };

  private static example(language: string): ConfirmSignUp {
    return new ConfirmSignUp({ url: "https://links.example/account/sign-up/7", language });
  }
}

/** A mail of a few paragraphs. Its subject is the message `id`. */
class Note extends Mail<Texts & { readonly id: string; readonly paragraphs: readonly string[] }> {
  subject() {
    return languages.in(this.data.language).t(this.data.id);
  }

  text() {
    return `${this.data.paragraphs.join("\n\n")}\n`;
  }
}

/** Of the other mails the sample has no flows. */
export class LinksMails extends PlainAuthMails {
  override confirmSignUp({ to, url, language }: LinkMail) {
    return new ConfirmSignUp({ url, language }).to(to);
  }

  override alreadySignedUp({ to, language }: NoteMail) {
    const { t } = languages.in(language);
    const paragraphs = [t("mail-exists-text"), t("mail-exists-you")];
    return new Note({ id: "mail-exists", paragraphs, language }).to(to);
  }

  override resetPassword({ to, url, expiresAt: until, language }: LinkMail) {
    const { t } = languages.in(language);
    const paragraphs = [t("mail-reset-text"), url, t("mail-once", { until })];
    return new Note({ id: "mail-reset", paragraphs, language }).to(to);
  }

  override credentialsChanged({ to, change, language }: ChangeMail) {
    const { t } = languages.in(language);
    const paragraphs = [t(`mail-${change}-text`), t("mail-not-you")];
    return new Note({ id: `mail-${change}`, paragraphs, language }).to(to);
  }
}
