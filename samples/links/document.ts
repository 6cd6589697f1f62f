/** The frame of every page: no script, no external style sheet, and one style element with the nonce. */
import type { CspNonce } from "@stagecraft/framework";

export function document(title: string, body: string, nonce: CspNonce | undefined): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="/favicon.svg">
<title>${escape(title)}</title>
<style${nonce?.attribute() ?? ""}>${STYLE}</style>
</head>
<body>
<h1>${escape(title)}</h1>
${body}
</body>
</html>
`;
}

export function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

const STYLE = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { max-width: 46rem; margin: 3rem auto; padding: 0 1rem; }
  form { display: grid; grid-template-columns: 1fr 12rem auto; gap: .5rem; align-items: end; }
  form.line { display: flex; gap: .5rem; align-items: center; margin: .5rem 0; }
  .line button { padding: .25rem .5rem; font-size: .875rem; }
  label { display: grid; gap: .25rem; font-size: .875rem; }
  input, button { font: inherit; font-size: 1rem; padding: .5rem; min-width: 0; }
  table { width: 100%; border-collapse: collapse; margin-top: 2rem; }
  th, td { text-align: left; padding: .5rem .25rem; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
  td { vertical-align: top; }
  td:not(:last-child) { overflow-wrap: anywhere; }
  th:first-child { width: 40%; }
  th:last-child, td:last-child { text-align: right; }
  section { margin-top: 3rem; font-size: .875rem; }
  code { overflow-wrap: anywhere; }
  strong { color: light-dark(#b00020, #ff8a95); }
  @media (max-width: 34rem) { form { grid-template-columns: 1fr; } }
`;
