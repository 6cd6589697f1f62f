/**
 * What every contender answers with, so that all of them do the same work. Read by the scenarios, by our own contenders and, compiled,
 * by the peers' scripts.
 */

/** Body of the `hello` scenario. */
export const HELLO = "Hello, world";

/** The largest body that the `echo` and `full` scenarios accept, in bytes. */
export const BODY_LIMIT = 2 * 1024 * 1024;

/** Who may ask across origins in the `full` scenario. */
export const ORIGIN = "https://app.example";

/** The policy of the `full` scenario; `{nonce}` stands for a fresh value on every answer. */
export const CSP = "default-src 'self'; script-src 'self' 'nonce-{nonce}'";

/** A quota that no run reaches: the limiter counts and never refuses. */
export const QUOTA = 1_000_000_000;

/** What a handler may take, in milliseconds. */
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

/** What that route answers. */
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
