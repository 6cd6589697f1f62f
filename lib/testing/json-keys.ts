/**
 * Walks the text of one JSON value and tells where its keys stand, in the order in which they were written; `JSON.parse` forgets that
 * order, and the first of two equal keys. By hand, because strings may be of any length, and a regular expression has a stack.
 */

export interface WrittenKey {
  readonly key: string;
  /** The key before it in the same object. */
  readonly before: string | undefined;
  /** The text of its value, where that is no object and no list. */
  readonly scalar: string | undefined;
}

/** @param text valid JSON; `undefined` is answered where there are blanks between its tokens. */
export function writtenKeys(text: string): readonly WrittenKey[] | undefined {
  const keys: WrittenKey[] = [];
  const last: (string | undefined)[] = [];
  for (let at = 0; at < text.length;) {
    const end = endOfToken(text, at);
    const token = text.slice(at, end);
    if (token.trim() === "") return undefined;
    if (token === "{") last.push(undefined);
    else if (token === "}") last.pop();
    else if (text[end] === ":") {
      // A string in a text that is valid JSON.
      const key = JSON.parse(token) as string;
      keys.push({ key, before: last.at(-1), scalar: scalarAt(text, end + 1) });
      last[last.length - 1] = key;
    }
    at = end;
  }
  return keys;
}

function scalarAt(text: string, start: number): string | undefined {
  return text[start] === "{" || text[start] === "[" ? undefined : text.slice(start, endOfToken(text, start));
}

function endOfToken(text: string, start: number): number {
  if (text[start] === '"') return endOfString(text, start);
  let end = start + 1;
  if (!isPlain(text.charCodeAt(start))) return end;
  while (end < text.length && isPlain(text.charCodeAt(end))) end += 1;
  return end;
}

function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote + 1;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === "\\") first -= 1;
  return (at - first) % 2 === 1;
}

/** What numbers, `true`, `false` and `null` are written with: digits, letters, `+`, `-`, `.`. */
function isPlain(code: number): boolean {
  const lower = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (lower >= 0x61 && lower <= 0x7a) || PUNCTUATION.has(code);
}

const PUNCTUATION: ReadonlySet<number> = new Set([0x2b, 0x2d, 0x2e]);
