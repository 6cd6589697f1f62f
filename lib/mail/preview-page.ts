/**
 * The documents of the preview page. Every text of a mail is escaped in them; the HTML of a mail is a separate document, for a frame.
 *
 * Internal: `mailPreviews` responds with them.
 */
import { createHash } from "node:crypto";
import type { Mailbox } from "./address.js";
import type { MailFile } from "./attachment.js";
import { html, trustedHtml, type MailHtml } from "./html.js";
import type { MailMessage } from "./mail-message.js";
import type { MailRecord } from "./mail-records.js";
import type { MailClass } from "./mail.js";

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1a1a1a; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.125rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .25rem .75rem .25rem 0; vertical-align: top; }
td { overflow-wrap: anywhere; }
iframe { width: 100%; height: 32rem; border: 1px solid #767676; background: #fff; }
pre { overflow-x: auto; border: 1px solid #767676; padding: .75rem; white-space: pre-wrap; overflow-wrap: anywhere; }
`;
/** No character stands between the tags and the style, because the policy has the hash of the style. */
const STYLE_ELEMENT = trustedHtml(`<style>${STYLE}</style>`);
const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Mails have inline styles. Images are only those of the mail itself. */
export const FRAME_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

export function renderIndexPage(path: string, mails: readonly MailClass[], records: readonly MailRecord[]): string {
  return renderDocument(
    "Mails",
    html`<h1>Mails</h1>
      <h2>Previews</h2>
      ${mails.length === 0 ? html`<p>There is no mail class: pass the classes to mailPreviews.</p>` : ""}
      <ul>
        ${mails.map((each) => renderPreviews(path, each))}
      </ul>
      <h2>Sent in this run</h2>
      ${records.length === 0 ? html`<p>No mail was sent or queued yet.</p>` : renderRecords(path, records)}`,
  );
}

export function renderMailPage(path: string, base: string, message: MailMessage): string {
  const source = Buffer.from(message.bytes).toString("latin1");
  return renderDocument(
    message.subject,
    html`<p><a href="${path}">All mails</a></p>
      <h1>${message.subject}</h1>
      <h2>Headers</h2>
      <table>
        ${renderHeaderRows(message)}
      </table>
      ${
        message.html === undefined
          ? html`<h2>HTML</h2>
              <p>This mail has no HTML.</p>`
          : renderFrame(base)
      }
      <h2>Text</h2>
      <pre tabindex="0">${linkUrls(message.text)}</pre>
      <h2>Source</h2>
      <pre tabindex="0">${source}</pre>`,
  );
}

/** The frame of the HTML follows no link, so those of the text do: a developer opens the link of a sign-up. */
function linkUrls(text: string): readonly (string | MailHtml)[] {
  const parts = text.split(/(https?:\/\/[^\s<>"]+)/);
  return parts.map((part, at) => (at % 2 === 1 ? html`<a href="${part}">${part}</a>` : part));
}

/** The HTML of the mail alone. Its images have become part of it, since the policy of the frame forbids loading. */
export function renderFrameDocument({ html: markup = "", attachments }: MailMessage): string {
  return attachments.reduce((text, file) => {
    return file.contentId === undefined ? text : text.replaceAll(`cid:${file.contentId}`, () => toDataUrl(file));
  }, markup);
}

function renderFrame(base: string): MailHtml {
  return html`<h2>HTML</h2>
    <iframe sandbox="" title="HTML of the mail" src="${`${base}/html`}"></iframe>`;
}

function renderPreviews(path: string, kind: MailClass): MailHtml {
  const names = Object.keys(kind.previews ?? {});
  const links = names.map((name, at) => {
    const link = `${path}/preview/${encodeURIComponent(kind.name)}/${at}`;
    return html`<li><a href="${link}">${name}</a></li>`;
  });
  const list =
    names.length === 0
      ? "no static previews"
      : html`<ul>
          ${links}
        </ul>`;
  return html`<li>${kind.name}: ${list}</li>`;
}

function renderRecords(path: string, records: readonly MailRecord[]): MailHtml {
  const rows = records.toReversed().map(({ name, subject, state, recipients, date, messageId }) => {
    const link = `${path}/sent/${encodeURIComponent(messageId.slice(1, -1))}`;
    return html`<tr>
      <td>${date.toISOString()}</td>
      <td>${name}</td>
      <td><a href="${link}">${subject}</a></td>
      <td>${recipients.join(", ")}</td>
      <td>${state}</td>
    </tr>`;
  });
  const titles = ["Time", "Mail", "Subject", "Recipients", "State"].map((title) => html`<th scope="col">${title}</th>`);
  return html`<table>
    <thead>
      <tr>
        ${titles}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

function renderHeaderRows(message: MailMessage): readonly MailHtml[] {
  const { messageId, date, from, replyTo, to, cc, recipients, headers, attachments } = message;
  const shown = new Set([...to, ...cc].map(({ address }) => address));
  const hidden = recipients.filter((address) => !shown.has(address));
  const files = attachments.map(({ name, type, content }) => `${name} (${type}, ${content.length} bytes)`);
  const rows: readonly (readonly [string, string])[] = [
    ["Message-ID", messageId],
    ["Date", date.toISOString()],
    ["From", formatMailbox(from)],
    ["Reply-To", replyTo === undefined ? "" : formatMailbox(replyTo)],
    ["To", to.map(formatMailbox).join(", ")],
    ["Cc", cc.map(formatMailbox).join(", ")],
    ["Bcc", hidden.join(", ")],
    ...headers,
    ["Attachments", files.join(", ")],
  ];
  return rows
    .filter(([, value]) => value !== "")
    .map(
      ([name, value]) =>
        html`<tr>
          <th scope="row">${name}</th>
          <td>${value}</td>
        </tr>`,
    );
}

function formatMailbox({ name, address }: Mailbox): string {
  return name === undefined ? address : `${name} <${address}>`;
}

function toDataUrl({ type, content }: MailFile): string {
  return `data:${type};base64,${Buffer.from(content).toString("base64")}`;
}

function renderDocument(title: string, body: MailHtml): string {
  return html`<!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        ${body}
      </body>
    </html>`.toString();
}
