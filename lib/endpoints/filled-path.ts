/**
 * The URL of a path template: one value for each capture. A browser loads this file without the reader of templates, because the server
 * refuses a faulty template when it starts.
 *
 * @example
 * fillTemplate("/links/{id}", ["a b"]); // "/links/a%20b"
 */
import { toCanonicalSegment } from "./percent-encoding.js";

export const CAPTURE = /^\{(\*?)([A-Za-z_]\w*)\}$/;

/**
 * Fills a template that the server has checked.
 *
 * @throws Error with the code `E_ROUTE_PARAM` for a value that is missing, empty, `.` or `..`; a front end loads no `FrameworkError`
 */
export function fillTemplate(template: string, values: readonly unknown[]): string {
  let next = 0;
  const parts = template.split("/").map((source) => {
    const [, star, name] = CAPTURE.exec(source) ?? [];
    if (name === undefined) return toCanonicalSegment(decodeURIComponent(source)) ?? source;
    return fillCapture(star === "", values[next++], (reason) => {
      const detail = `the parameter "${name}" of "${template}" ${reason}`;
      return Object.assign(new Error(detail), { code: "E_ROUTE_PARAM" });
    });
  });
  return parts.join("/");
}

/**
 * Joins a prefix and a path with one slash between them: `/admin/` and `users` become `/admin/users`. The path `""` or `/` gives the prefix
 * itself, and the prefix `""` or `/` adds nothing. At most one slash is removed from each side: a doubled slash stays, and the template is
 * refused.
 */
export function joinPaths(prefix: string, path: string): string {
  const start = prefix.replace(/\/$/, "");
  const end = path.replace(/^\//, "");
  if (end === "") return start || "/";
  return `${start}/${end}`;
}

/**
 * Returns the value of a capture as a part of a URL. A catch-all keeps its slashes, but a slash at its start is refused: the URL could
 * start with `//`, which is another host to a browser.
 *
 * @throws the error that `createError` creates from the reason
 */
export function fillCapture(isSegment: boolean, value: unknown, createError: (reason: string) => Error): string {
  if (value === undefined || value === null) throw createError("is missing");
  if (NO_PARAMETER.test(typeof value)) throw createError(`has the type ${typeof value}`);
  // The other types have one text.
  const text = `${value as bigint | boolean | number | string}`;
  if (text === "") throw createError("is empty");
  if (!isSegment && text.startsWith("/")) throw createError("starts with a slash");
  const dots = (isSegment ? [text] : text.split("/")).find((part) => part === "." || part === "..");
  if (dots !== undefined) throw createError(`is "${dots}", which clients resolve`);
  try {
    const encoded = encodeURIComponent(text);
    return isSegment ? encoded : encoded.replaceAll("%2F", "/");
  } catch {
    throw createError("contains half of a surrogate pair");
  }
}

const NO_PARAMETER = /object|function|symbol/;
