/** The page for people: a form and the list of links. Every value is escaped. */
import type { CspNonce } from "@stagecraft/framework";
import { document, escape } from "./document.js";
import type { Link } from "./link-store.js";
import { home, visit } from "./links.routes.js";

/** Refused input, with an error for each wrong field. */
export interface Attempt {
  readonly target: string;
  readonly slug: string;
  readonly faults: { readonly target?: string | undefined; readonly slug?: string | undefined };
}

const NOTHING: Attempt = { target: "", slug: "", faults: {} };

export function homePage(
  host: string,
  links: readonly Link[],
  nonce: CspNonce | undefined,
  { overview, attempt: { target, slug, faults } = NOTHING }: { overview: string; attempt?: Attempt | undefined },
): string {
  const form = `<form method="post" action="${home.shorten.url()}">
  <label>Long address ${said(faults.target)}<input name="target" type="url" required maxlength="2048" placeholder="https://example.com/"${state(target, faults.target)}></label>
  <label>Name (optional) ${said(faults.slug)}<input name="slug" pattern="[a-z0-9\\-]{3,32}" placeholder="my-link"${state(slug, faults.slug)}></label>
  <button>Shorten</button>
</form>`;
  const list = links.length === 0 ? "<p>No links yet: make the first one.</p>" : table(host, links);
  return document("Links", `${form}\n${list}${overview}`, nonce);
}

/** The error stands in the label of its field, so that a screen reader reads both. */
function said(text: string | undefined): string {
  return text === undefined ? "" : `<strong>${escape(text)}</strong> `;
}

function state(entered: string, fault: string | undefined): string {
  const value = entered === "" ? "" : ` value="${escape(entered)}"`;
  return fault === undefined ? value : `${value} aria-invalid="true" autofocus`;
}

function table(host: string, links: readonly Link[]): string {
  const rows = links.slice(0, 100).map((link) => row(host, link));
  return `<table>
<thead><tr><th>Short</th><th>Leads to</th><th>Visits</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>`;
}

function row(host: string, { slug, target, visits }: Link): string {
  const url = visit.url(slug);
  return `<tr><td><a href="${escape(url)}">${escape(host)}<wbr>${escape(url)}</a></td><td>${escape(target)}</td><td>${visits}</td></tr>`;
}
