/** The names of the endpoints below a prefix. The two editions of `prefix`, of the server and of a browser, share them. */

/** @param start the text before the name; unless given, the literal segments of the path: `/api/v1` is `api.v1` */
export function toPrefixedName(path: string, start: string | undefined, name: string): string {
  const segments = path.split("/").filter((each) => each !== "" && !each.startsWith("{"));
  const dotted = start ?? segments.join(".");
  return dotted === "" ? name : `${dotted}.${name}`;
}
