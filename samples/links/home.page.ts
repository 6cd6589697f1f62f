/** The HTML of the page: no script, no style sheet to fetch, and every value escaped. */
import type { Link } from "./link-store.js";
import { home, visit } from "./links.routes.js";

export function homePage(host: string, links: readonly Link[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Links</title>
<style>
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { max-width: 46rem; margin: 3rem auto; padding: 0 1rem; }
  form { display: grid; grid-template-columns: 1fr 12rem auto; gap: .5rem; align-items: end; }
  label { display: grid; gap: .25rem; font-size: .875rem; }
  input, button { font: inherit; padding: .5rem; }
  table { width: 100%; border-collapse: collapse; margin-top: 2rem; }
  th, td { text-align: left; padding: .5rem .25rem; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
  td:nth-child(2) { overflow-wrap: anywhere; }
  @media (max-width: 34rem) { form { grid-template-columns: 1fr; } }
</style>
</head>
<body>
<h1>Links</h1>
<form method="post" action="${home.shorten.url()}">
  <label>Long address <input name="target" type="url" required maxlength="2048" placeholder="https://example.com/"></label>
  <label>Name (optional) <input name="slug" pattern="[a-z0-9\\-]{3,32}" placeholder="my-link"></label>
  <button>Shorten</button>
</form>
${links.length === 0 ? "<p>No links yet: make the first one.</p>" : table(host, links)}
</body>
</html>
`;
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
  return `<tr><td><a href="${escape(url)}">${escape(host + url)}</a></td><td>${escape(target)}</td><td>${visits}</td></tr>`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
