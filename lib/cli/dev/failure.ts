/**
 * Why the newest code of an application does not run, as a page for the browser and as text for other clients. The page loads nothing, runs
 * one script, and loads itself again when the code has changed.
 */
import { createHash } from "node:crypto";
import { stripVTControlCharacters } from "node:util";
import { isSensitive, REDACTED } from "../../observe/logging/redaction.js";
import { escapeHtml } from "../../stages/pages/document/html.js";

export interface DevelopmentFailure {
  readonly title: string;
  readonly text: string;
}

/** The page asks here for the next change: a stream of events. */
export const CHANGES_PATH = "/@stagecraft/changes";

/** A shorter value is part of many words. */
const MIN_SECRET = 6;

/** The failure without colours, and without the secrets of the environment. */
export function createFailure(
  title: string,
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): DevelopmentFailure {
  const secrets = Object.entries(environment).flatMap(([name, value = ""]) => findSecrets(name, value));
  const plain = stripVTControlCharacters(text).replaceAll(PASSWORD_IN_URL, `$1${REDACTED}@`);
  return { title, text: secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), plain) };
}

const PASSWORD_IN_URL = /(:\/\/[^\s:@/]*:)[^\s@/]+@/gu;
const RANDOM_TEXT = /^[\w+/=.-]{24,}$/u;

/** The value of a variable with the name or the form of a secret, and the password of a URL. */
function findSecrets(name: string, value: string): readonly string[] {
  const isSecret = isSensitive(name.toLowerCase()) || /key|dsn|salt/iu.test(name) || isRandom(value);
  const [, password] = /:\/\/[^\s:@/]*:([^\s@/]+)@/u.exec(value) ?? [];
  return [isSecret ? value : "", password ?? ""].filter(({ length }) => length >= MIN_SECRET);
}

/** A path has slashes at its start or words between them. */
function isRandom(value: string): boolean {
  return RANDOM_TEXT.test(value) && /\d/u.test(value) && /[a-z]/iu.test(value) && !/^[./]|\.\w{1,4}$/u.test(value);
}

/** @param version the state that the page shows */
export function renderFailure({ title, text }: DevelopmentFailure, version: number): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body data-version="${version}">
<main>
<h1>${escapeHtml(title)}</h1>
<pre tabindex="0">${escapeHtml(text)}</pre>
<p>This page loads again when the code has changed.</p>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; border-top: 6px solid #c0262d; }
main { max-width: 70rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.4rem; }
pre { overflow-x: auto; padding: 1rem; font: 14px/1.6 ui-monospace, monospace; border: 1px solid #8888; border-radius: 6px; }
`;

const SCRIPT = `
new EventSource("${CHANGES_PATH}?seen=" + document.body.dataset.version).onmessage = () => location.reload();
`;

export const FAILURE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  "Content-Security-Policy": [
    "default-src 'none'",
    "img-src data:",
    "connect-src 'self'",
    `script-src ${hash(SCRIPT)}`,
    `style-src ${hash(STYLE)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

function hash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
