/** What `.healthPrefix(path)` accepts: one leading slash, at least one segment, no trailing slash (details, 4.1). */
import { nameOf } from "../di/token.js";
import type { Finding } from "../errors/diagnostic.js";

/** Characters that a path segment has as they are, or percent-encoded (RFC 3986, section 3.3): others can arrive in no request. */
const SEGMENT = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/;

/** Why `prefix` cannot be one, or `undefined` where it can. */
export function checkHealthPrefix(prefix: unknown): Finding | undefined {
  const [before, ...segments] = typeof prefix === "string" ? prefix.split("/") : [];
  if (before === "" && segments.length > 0 && segments.every(isSegment)) return undefined;
  return {
    code: "E_HEALTH_PREFIX",
    what: `${typeof prefix === "string" ? JSON.stringify(prefix) : nameOf(prefix)} cannot be the prefix of the health endpoints`,
    where: "Application.create().healthPrefix(path)",
    cure: "write a plain path with one leading and no trailing slash and at least one segment, for example /up",
  };
}

function isSegment(text: string): boolean {
  return text !== "." && text !== ".." && SEGMENT.test(text);
}
