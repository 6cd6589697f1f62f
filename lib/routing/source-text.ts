/**
 * Source code without what only looks like code: comments, and the insides of strings and templates. One pass, no parser: a regular
 * expression that holds a quote may swallow what follows it.
 */

const QUOTES = "\"'`";

export function withoutTexts(source: string): string {
  let code = "";
  for (let at = 0; at < source.length;) {
    const end = endOfText(source, at);
    code += end === at ? source.charAt(at) : '""';
    at = end === at ? at + 1 : end;
  }
  return code;
}

/** Where the comment, string or template that starts at `at` ends; `at` where none starts. */
function endOfText(source: string, at: number): number {
  const character = source.charAt(at);
  if (QUOTES.includes(character)) return endOfString(source, at, character);
  if (source.startsWith("//", at)) return after(source, "\n", at);
  return source.startsWith("/*", at) ? after(source, "*/", at + 2) : at;
}

function endOfString(source: string, start: number, quote: string): number {
  for (let at = start + 1; at < source.length; at++) {
    if (source.charAt(at) === "\\") at++;
    else if (source.charAt(at) === quote) return at + 1;
  }
  return source.length;
}

function after(source: string, end: string, from: number): number {
  const at = source.indexOf(end, from);
  return at === -1 ? source.length : at + end.length;
}
