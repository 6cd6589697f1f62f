/**
 * The data of every contender, so that all do the same work. The scenarios, our own contenders and, compiled, the scripts of the peers
 * read it.
 */

/** Body of the `hello` scenario. */
export const HELLO = "Hello, world";

/** The key of the `session` scenario: 64 bytes in hexadecimal. */
export const SESSION_KEY = "5a".repeat(64);

/** The answer of the `session` scenario without a session. */
export const NO_NAME = "nobody";

/** The largest body that the `echo` and `full` scenarios accept, in bytes. */
export const BODY_LIMIT = 2 * 1024 * 1024;

/** The allowed origin of the `full` scenario. */
export const ORIGIN = "https://app.example";

/** The policy of the `full` scenario; `{nonce}` stands for a fresh value on every answer. */
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

/** The answer of that route. */
export function areaAnswer(index: number, id: string): string {
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
