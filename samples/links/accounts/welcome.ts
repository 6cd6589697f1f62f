import { html, Mail } from "@stagecraft/framework/mail";

/** The mail to a person who has signed up with an address. */
export class Welcome extends Mail<{ name: string }> {
  subject() {
    return `Welcome to links, ${this.data.name}`;
  }

  text() {
    return `Hello ${this.data.name},\n\nyour account is ready. Your links are on your page.\n`;
  }

  override html() {
    return html`<p>Hello ${this.data.name},</p>
      <p>your account is ready. Your links are on your page.</p>`;
  }

  static readonly previews = { "a new account": () => new Welcome({ name: "ada" }) };
}
