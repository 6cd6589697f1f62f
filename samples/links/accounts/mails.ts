import { type LinkMail, PlainAuthMails } from "@stagecraft/framework/auth";
import { html, Mail } from "@stagecraft/framework/mail";

/** The mail that a sign-up waits for. */
export class ConfirmSignUp extends Mail<{ url: string }> {
  subject() {
    return "Confirm your address";
  }

  text() {
    return `Welcome to Links.\n\nConfirm your address, and your account is ready:\n\n${this.data.url}\n\n${NOT_YOU}\n`;
  }

  override html() {
    return html`<p>Welcome to Links.</p>
      <p><a href="${this.data.url}">Confirm your address</a>, and your account is ready.</p>
      <p>${NOT_YOU}</p>`;
  }

  static readonly previews = {
    "a sign-up": () => new ConfirmSignUp({ url: "https://links.example/account/sign-up/7" }),
  };
}

const NOT_YOU = "The link works once, within a day. If you have not signed up, ignore this mail.";

/** The other mails have the words of the framework. */
export class LinksMails extends PlainAuthMails {
  override confirmSignUp({ to, url }: LinkMail) {
    return new ConfirmSignUp({ url }).to(to);
  }
}
