/**
 * What the compiler reads out of a path literal: the names of its captures, the arguments of its URL, and the path that a prefix
 * makes of it. For a path that is only known as `string` everything is open: any name, any number of arguments.
 */

/** What a parameter of a URL may be given as. */
export type PathParameter = string | number | bigint | boolean;

/** `"/teams/{team}/files/{*rest}"` → `"team" | "rest"` */
export type Names<P extends string> = string extends P ? string : NamesOf<P>;

type NamesOf<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `*${infer CatchAll}` ? CatchAll : Name) | NamesOf<Rest>
  : never;

/** One argument per capture, in the order of the path. */
export type UrlArguments<P extends string> = string extends P ? PathParameter[] : ArgumentsOf<P>;

type ArgumentsOf<P extends string> = P extends `${string}{${string}}${infer Rest}`
  ? [value: PathParameter, ...ArgumentsOf<Rest>]
  : [];

/** The type of `joinPaths(prefix, path)`. */
export type Join<Prefix extends string, P extends string> = string extends Prefix | P
  ? string
  : P extends "" | "/"
    ? Prefix extends "" | "/"
      ? "/"
      : WithoutSlashAtEnd<Prefix>
    : `${WithoutSlashAtEnd<Prefix>}/${WithoutSlashAtStart<P>}`;

type WithoutSlashAtEnd<P extends string> = P extends `${infer Start}/` ? Start : P;
type WithoutSlashAtStart<P extends string> = P extends `/${infer End}` ? End : P;
