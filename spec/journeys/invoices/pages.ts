/** The pages of the product: HTML for a browser, JSON for a program. */
import { type Context, Reply, redirect } from "@stagecraft/framework";
import { html, type MailHtml, trustedHtml } from "@stagecraft/framework/mail";
import { CsrfToken, Flash } from "@stagecraft/framework/session";

export const isForm = (ctx: Context) => ctx.is("urlencoded") === "urlencoded";
export const wantsPage = (ctx: Context) => ctx.accepts("json", "html") === "html";

/** A page for a browser, the value for a program. */
export async function showPage(ctx: Context, value: object, title: string, content: MailHtml) {
  ctx.vary("Accept");
  if (!wantsPage(ctx)) return Reply.json(value);
  const { messages, errors } = await Flash.of(ctx).take();
  const faults = Object.entries(errors["default"] ?? {});
  return Reply.html(
    html`<!doctype html>
      <html lang="en">
        <meta charset="utf-8" /><title>${title}</title>
        <h1>${title}</h1>
        ${messages.map(({ level, message }) => html`<p class="${level}">${message}</p>`)}
        ${faults.map(([field, message]) => html`<p class="error">${field}: ${String(message)}</p>`)} ${content}
      </html>`.toString(),
  );
}

/** A redirect with a message for a form, the value for a program. */
export function respond(ctx: Context, to: string, value: object, message?: string) {
  if (!isForm(ctx)) return Reply.json(value);
  if (message !== undefined) Flash.of(ctx).success(message);
  return redirect().to(to);
}

/** The same for what was refused. */
export function refuse(ctx: Context, to: string, message: string, status = 401) {
  if (!isForm(ctx)) return Reply.json({ kind: "refused", message }, status);
  Flash.of(ctx).error(message);
  return redirect().to(to);
}

export function createForm(ctx: Context, action: string | undefined, button: string, fields: readonly MailHtml[] = []) {
  const to = action === undefined ? "" : html` action="${action}"`;
  return html`<form method="post" ${to}>
    ${trustedHtml(CsrfToken.of(ctx).field())}${fields}<button>${button}</button>
  </form> `;
}

export const createField = (name: string, type = "text") =>
  html`<label>${name} <input name="${name}" type="${type}" /></label> `;
