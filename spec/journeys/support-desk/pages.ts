/** The pages of the support desk as HTML, in the language of the request and in its direction. */
import { type Context, inject, Reply } from "@stagecraft/framework";
import { Languages } from "@stagecraft/framework/i18n";
import { html, type MailHtml, trustedHtml } from "@stagecraft/framework/mail";
import { CsrfToken } from "@stagecraft/framework/session";

export type Translate = (id: string, values?: Readonly<Record<string, string | number>>) => string;

export class DeskPages {
  private readonly languages = inject(Languages);

  async render(ctx: Context, title: string, render: (t: Translate) => MailHtml) {
    const { t, tag, dir } = await this.languages.of(ctx);
    const head = html`<meta charset="utf-8" /><title>${t(title)}</title>`;
    const page = html`<html lang="${tag}" dir="${dir}">
      ${head}
      <h1>${t(title)}</h1>
      ${render(t)}
    </html>`;
    return Reply.html(`<!doctype html>${page.toString()}\n`);
  }
}

/** @param action without it the form posts to the URL of its page */
export function createForm(ctx: Context, button: string, fields: readonly MailHtml[] = [], action?: string) {
  const to = action === undefined ? "" : html` action="${action}"`;
  return html`<form method="post" ${to}>
    ${trustedHtml(CsrfToken.of(ctx).field())}${fields}<button>${button}</button>
  </form>`;
}
