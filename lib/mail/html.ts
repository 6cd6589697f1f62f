/**
 * The HTML of a mail as a tagged template. Each value is escaped, so text of a user stays text. A value must be the text of an element,
 * or stand in an attribute with quotes. A link must be http, https, mailto, tel or cid.
 *
 * Not for pages of the application, whose stage renders their documents.
 *
 * @example
 * html`<p>Hello ${this.data.name}</p>
 *   <ul>${this.data.items.map((item) => html`<li>${item}</li>`)}</ul>
 *   <a href="${this.data.link}">Confirm</a>`;
 */
import { MailContentError } from "./mail-error.js";

/** HTML in which every value is escaped. Only `html` and `trustedHtml` create it. */
export class MailHtml {
  declare private readonly brand: true;

  /** @internal Use `html`. */
  constructor(private readonly markup: string) {}

  toString(): string {
    return this.markup;
  }
}

/** A value in a template. `undefined`, `null` and `false` give an empty text. */
export type MailHtmlValue = string | number | bigint | MailHtml | null | undefined | false | readonly MailHtmlValue[];

const LINK = /\s(?:href|src|action|background)\s*=\s*["']\s*$/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const ALLOWED_SCHEME = /^(?:https?|mailto|tel|cid):/i;
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * @throws MailContentError `E_MAIL_HTML` for a value after `=` without quotes, and for a link with another scheme, such as `javascript:`
 */
export function html(strings: TemplateStringsArray, ...values: readonly MailHtmlValue[]): MailHtml {
  let markup = strings[0] ?? "";
  let isInTag = false;
  for (const [at, value] of values.entries()) {
    const before = strings[at] ?? "";
    isInTag = endsInTag(before, isInTag);
    if (isInTag && /=\s*$/.test(before))
      throw wrongHtml('a value stands in an attribute without quotes: write name="${value}"');
    const text = toMarkup(value);
    if (LINK.test(before)) checkLink(text);
    markup += text + (strings[at + 1] ?? "");
  }
  return new MailHtml(markup);
}

/** Markup that is inserted as it is: the output of a template engine, never text of a user. */
export function trustedHtml(markup: string): MailHtml {
  return new MailHtml(markup);
}

export function escapeMailText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Whether a value after this part of the template stands inside a tag. */
function endsInTag(part: string, wasInTag: boolean): boolean {
  const [opened, closed] = [part.lastIndexOf("<"), part.lastIndexOf(">")];
  return opened === closed ? wasInTag : opened > closed;
}

function toMarkup(value: MailHtmlValue): string {
  if (value instanceof MailHtml) return value.toString();
  if (value === undefined || value === null || value === false) return "";
  if (typeof value === "object") return value.map(toMarkup).join("");
  return escapeMailText(String(value));
}

function checkLink(escaped: string): void {
  // Browsers ignore control characters and spaces before and inside a scheme (URL standard, section 4.4).
  // oxlint-disable-next-line no-control-regex -- the pattern removes these characters
  const link = escaped.replaceAll(/[\u0000-\u0020]|&#\d+;/g, "");
  if (SCHEME.test(link) && !ALLOWED_SCHEME.test(link))
    throw wrongHtml("a link is neither http, https, mailto, tel nor cid");
}

function wrongHtml(fault: string): MailContentError {
  return new MailContentError("E_MAIL_HTML", `the HTML of a mail cannot be rendered: ${fault}`);
}
