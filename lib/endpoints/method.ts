/**
 * The methods of HTTP, and what a client and a server may assume of each (RFC 9110 section 9.2, RFC 10008 section 2). Code that decides
 * by a property of a method asks here. Code that means one method, such as HEAD, compares the text.
 */

/** The method of a route. `ANY` is every method that has no separate route at the same template, TRACE and PURGE too. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS" | "QUERY" | "ANY";

const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"]);

/** Whether a request with the method asks for no change. Only a page of this site can cause a QUERY without a preflight. */
export function isSafeMethod(method: string): boolean {
  return SAFE.has(method);
}

/** Whether a client may send the request again without knowing the outcome of the first one. `ANY` is sent as GET. */
export function isIdempotentMethod(method: string): boolean {
  return method !== "POST" && method !== "PATCH";
}

/**
 * Whether the URL alone names the response. Only such a request is redirected with a status that keeps the method, and only such a request
 * asks for a file or a page. A QUERY does not: its response depends on the body.
 */
export function isGetOrHead(method: string | undefined): boolean {
  return method === "GET" || method === "HEAD";
}
