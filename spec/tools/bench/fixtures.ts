/**
 * The data of every contender, so that all do the same work. The scenarios, our own contenders and, compiled, the scripts of the peers
 * read it.
 */

/** Body of the `hello` scenario. */
export const HELLO = "Hello, world";

/** The key of the `session` scenario: 64 bytes in hexadecimal. */
export const SESSION_KEY = "5a".repeat(64);

/** The token of the `api-token` scenario. It has the right checksum. */
export const API_TOKEN = "sct_5a5a5a5a5a5a5a5a5a5a5a5a5a52aDcyO";

/** The response of the `session` scenario without a session. */
export const NO_NAME = "nobody";

/** The largest body that the `echo` and `full` scenarios accept, in bytes. */
export const BODY_LIMIT = 2 * 1024 * 1024;

/** The allowed origin of the `full` scenario. */
export const ORIGIN = "https://app.example";

/** The policy of the `full` scenario; `{nonce}` stands for a fresh value on every response. */
export const CSP = "default-src 'self'; script-src 'self' 'nonce-{nonce}'";

/** A quota that no run reaches: the limiter counts and never refuses. */
export const QUOTA = 1_000_000_000;

/** The timeout of a handler, in milliseconds. */
export const TIMEOUT_MS = 30_000;

export interface Link {
  readonly id: string;
  readonly url: string;
  readonly visits: number;
}

/** The service that is injected where a peer has injection, and called directly where it has none. */
export class LinkStore {
  find(id: string): Link {
    return { id, url: `https://example.org/${id}`, visits: 42 };
  }
}

/** Route number `index` of the `routes` scenario with the parameter written as the contender writes it: `{id}` or `:id`. */
export function areaPath(index: number, parameter: string): string {
  return `/area-${index}/items/${parameter}`;
}

/** The response of that route. */
export function areaResponse(index: number, id: string): string {
  return `area ${index} item ${id}`;
}

/** A JSON document of exactly 1,024 bytes: nested, with strings, numbers, booleans and null. */
export const ECHO_BODY = oneKibibyte();

function oneKibibyte(): string {
  const document = {
    id: 7,
    title: "A link worth keeping",
    public: true,
    expires: null,
    tags: ["web", "framework", "benchmark"],
    owner: { name: "Ada", email: "ada@example.org", scores: [1, 2.5, 3, 5, 8, 13] },
    note: "",
  };
  const missing = 1024 - JSON.stringify(document).length;
  return JSON.stringify({ ...document, note: "lorem ipsum ".repeat(100).slice(0, missing) });
}

export const PAGE_COMPONENT = "links/index";
export const PAGE_VERSION = "v1";

/** 20 props: a list of five links, an object, texts, numbers. */
export function pageProps(): Record<string, unknown> {
  const store = new LinkStore();
  const props: Record<string, unknown> = {
    links: ["1", "2", "3", "4", "5"].map((id) => store.find(id)),
    user: { name: "Ada", email: "ada@example.org", isAdmin: false },
  };
  for (let at = 3; at <= 20; at += 1) props[`prop${at}`] = at % 2 === 0 ? at : `the value of prop ${at}`;
  return props;
}

/** Vite's manifest of a small front end. */
export const MANIFEST = {
  "pages/main.tsx": { file: "assets/main-1a2b3c4d.js", imports: ["_shared.js"], css: ["assets/main-5e6f7a8b.css"] },
  "_shared.js": { file: "assets/shared-9c0d1e2f.js", css: ["assets/shared-3a4b5c6d.css"] },
};

/** The tags that the manifest stands for. */
export const PAGE_TAGS =
  '<link rel="stylesheet" href="/build/assets/shared-3a4b5c6d.css">' +
  '<link rel="stylesheet" href="/build/assets/main-5e6f7a8b.css">' +
  '<script type="module" src="/build/assets/main-1a2b3c4d.js"></script>' +
  '<link rel="modulepreload" href="/build/assets/shared-9c0d1e2f.js">';

const PAGE_HEAD =
  '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">' +
  '<meta name="viewport" content="width=device-width, initial-scale=1"><title data-inertia="">Index</title>' +
  `${PAGE_TAGS}</head><body><script data-page="app" type="application/json">`;

/** The document around a page object whose JSON is escaped for a script. */
export function pageDocument(escaped: string): string {
  return `${PAGE_HEAD}${escaped}</script><div id="app"></div></body></html>`;
}

/** The page object of the page scenarios. */
export function pageObject(url: string): unknown {
  return { component: PAGE_COMPONENT, props: { errors: {}, ...pageProps() }, url, version: PAGE_VERSION };
}

const ESCAPES: Readonly<Record<string, string>> = { "<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "/": "\\/" };

export function escapedForScript(json: string): string {
  return json.replaceAll(/[<>&/]/g, (character) => ESCAPES[character] ?? character);
}
