/**
 * A request target taken apart (RFC 9112 section 3.2), whatever its form: the path, and the query that is never logged. A fragment is no
 * part of a target and is dropped; so is the authority of the absolute form.
 *
 * Not for the URLs an application makes: those are `URL`s.
 */
const SLASH = 0x2f;

/** The path, raw; `*` of the asterisk form. Never anything behind a `?` or a `#`. */
export function pathOf(target: string): string {
  const end = endOfPath(target);
  if (target.charCodeAt(0) === SLASH) return target.slice(0, end);
  const authority = target.indexOf("://");
  if (authority < 0 || authority > end) return target.slice(0, end);
  const slash = target.indexOf("/", authority + 3);
  return slash < 0 || slash > end ? "/" : target.slice(slash, end);
}

/** The query with its `?`; `""` where there is none. */
export function queryOf(target: string): string {
  const start = target.indexOf("?");
  if (start < 0) return "";
  const fragment = target.indexOf("#");
  if (fragment < 0) return target.slice(start);
  return fragment < start ? "" : target.slice(start, fragment);
}

function endOfPath(target: string): number {
  const query = target.indexOf("?");
  const fragment = target.indexOf("#");
  if (query < 0) return fragment < 0 ? target.length : fragment;
  return fragment < 0 ? query : Math.min(query, fragment);
}
