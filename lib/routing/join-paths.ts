/** A prefix put before a path template, with exactly one slash between them. */

/**
 * `/admin/` and `users` make `/admin/users`; an empty path and `/` stand for the prefix itself, an empty prefix and `/` for nothing.
 * Only one slash is taken from each side: a doubled one stays and is refused with the template.
 */
export function joinPaths(prefix: string, path: string): string {
  const start = prefix.endsWith("/") ? prefix.slice(0, -1) : prefix;
  const end = path.startsWith("/") ? path.slice(1) : path;
  if (end === "") return start === "" ? "/" : start;
  return `${start}/${end}`;
}
