/**
 * Which parameters a handler reads, as far as its source says so plainly: the last look at what a cast or plain JavaScript has
 * carried past the compiler. Where the source leaves a doubt, nothing is said; never a reason to write handlers in a certain way.
 *
 * Plain are `({ params: { id } })`, `({ params }) => params.id` and `(ctx) => ctx.params.id`, and destructuring of `params`.
 */
import type { AnyHandler } from "./handler.js";

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

const WORD = "[A-Za-z_$][\\w$]*";
/** `name(first` or `(first` or `async (first`, up to what the first parameter is. */
const FIRST_PARAMETER = new RegExp(`^(?:async\\b)?\\s*(?:function\\b)?\\s*(?:[\\w$]+|\\[[^\\]]*\\])?\\s*\\(\\s*`);
const BARE_PARAMETER = new RegExp(`^(?:async\\s+)?(${WORD})\\s*=>`);
const ONLY_PATTERN = /^(\{(?:[^{}]|\{[^{}]*\})*\})\s*\)/;
const IN_PATTERN = new RegExp(`(?:^|[{,])\\s*params\\s*(?::\\s*(?:(${WORD})|\\{([^{}]*)\\}))?\\s*(?=[,}])`);

/** The names, each once; none for a function whose source is not to be had. */
export function askedParameters(handler: AnyHandler): readonly string[] {
  return askedInSource(Function.prototype.toString.call(handler));
}

/** The same for a function's text. */
export function askedInSource(text: string): readonly string[] {
  const source = withoutTexts(text);
  const bare = BARE_PARAMETER.exec(source);
  if (bare) return readOf(`${bare[1] ?? ""}.params`, source.slice(bare[0].length));
  const start = FIRST_PARAMETER.exec(source);
  if (!start) return [];
  const rest = source.slice(start[0].length);
  return rest.startsWith("{") ? ofPattern(rest) : ofName(rest);
}

function ofName(rest: string): readonly string[] {
  const name = new RegExp(`^(${WORD})\\s*\\)`).exec(rest);
  return name ? readOf(`${name[1] ?? ""}.params`, rest.slice(name[0].length)) : [];
}

function ofPattern(rest: string): readonly string[] {
  const only = ONLY_PATTERN.exec(rest);
  const found = IN_PATTERN.exec(only?.[1] ?? "");
  if (!only || !found) return [];
  const [, renamed, inner] = found;
  return inner === undefined ? readOf(renamed ?? "params", rest.slice(only[0].length)) : keysOf(inner);
}

/** The members read of `holder`, which is `params` or `ctx.params`; none where its first word means something else further in. */
function readOf(holder: string, body: string): readonly string[] {
  const [word = ""] = holder.split(".");
  const quoted = holder.replaceAll("$", "\\$").replace(".", "\\s*\\.\\s*");
  if (isBoundAgain(word.replaceAll("$", "\\$"), body)) return [];
  const members = body.matchAll(new RegExp(`(?<![\\w$.])${quoted}\\s*\\.\\s*(${WORD})`, "g"));
  const patterns = body.matchAll(new RegExp(`\\{([^{}]*)\\}\\s*=\\s*${quoted}\\s*(?:[;,\\n)]|$)`, "g"));
  const names = [...members].map(([, name = ""]) => name);
  const taken = [...patterns].flatMap(([, inner = ""]) => keysOf(inner));
  return [...new Set([...names, ...taken])].filter((name) => !(name in Object.prototype));
}

/** `(x)`, `x =>`, `let x`, `{ x }`, `x =`: some of these bind the word anew, and telling which takes a parser. */
function isBoundAgain(word: string, body: string): boolean {
  return new RegExp(
    `(?:[(,{[]\\s*|\\.\\.\\.|\\b(?:let|const|var|function|class)\\s+)${word}\\s*[,)}\\]=]|(?<![\\w$.])${word}\\s*=`,
  ).test(body);
}

/** Of `id, slug: text, page = 1` the keys; a rest takes what there is and asks for nothing. */
function keysOf(inner: string): readonly string[] {
  const parts = inner.split(",").map((part) => part.trim());
  return parts.flatMap((part) => new RegExp(`^(${WORD})`).exec(part)?.[1] ?? []);
}
