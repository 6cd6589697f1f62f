/** The page for people: a form and the list of links. Every value is escaped. */
import { account } from "./accounts/account.routes.js";
import { escape } from "./document.js";
import { type Attempted, fault, field, flashes, page } from "./form.js";
import type { Link } from "./link-store.js";
import { home, visit } from "./links.routes.js";

export interface Home {
  readonly host: string;
  /** The account of the visitor; `undefined` for one who has not signed in. */
  readonly visitor: string | undefined;
  readonly links: readonly Link[];
  /** The part for developers, as HTML. */
  readonly overview: string;
}

export function homePage(shown: Home, attempted: Attempted): string {
  const { visitor, links, overview } = shown;
  const top = visitor === undefined ? invitation() : signedIn(visitor, attempted) + form(attempted);
  const list = links.length === 0 ? "<p>No links yet: make the first one.</p>" : table(shown, attempted);
  return page("Links", `${flashes(attempted)}${top}\n${list}${overview}`, attempted);
}

function invitation(): string {
  return `<p><a href="${account.signIn.url()}">Sign in</a> or <a href="${account.signUp.url()}">sign up</a> to make a link.</p>`;
}

function signedIn(visitor: string, { token }: Attempted): string {
  return `<form class="line" method="post" action="${account.leave.url()}">${token.field()}
  <span>Signed in as ${escape(visitor)}</span> <button>Sign out</button>
</form>
`;
}

function form(attempted: Attempted): string {
  return `<form method="post" action="${home.shorten.url()}">${attempted.token.field()}
  <label>Long address ${fault(attempted, "target")}<input name="target" type="url" required maxlength="2048" placeholder="https://example.com/"${field(attempted, "target")}></label>
  <label>Name (optional) ${fault(attempted, "slug")}<input name="slug" pattern="[a-z0-9\\-]{3,32}" placeholder="my-link"${field(attempted, "slug")}></label>
  <button>Shorten</button>
</form>`;
}

function table(shown: Home, attempted: Attempted): string {
  const rows = shown.links.slice(0, 100).map((link) => row(shown, link, attempted));
  return `<table>
<thead><tr><th>Short</th><th>Leads to</th><th>Visits</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>`;
}

function row({ host, visitor }: Home, { slug, target, visits, owner }: Link, { token }: Attempted): string {
  const url = visit.url(slug);
  const removal =
    visitor === undefined || visitor !== owner
      ? ""
      : `<form class="line" method="post" action="${home.remove.url(slug)}">${token.field()}<button>Remove</button></form>`;
  return `<tr><td><a href="${escape(url)}">${escape(host)}<wbr>${escape(url)}</a>${removal}</td><td>${escape(target)}</td><td>${visits}</td></tr>`;
}
