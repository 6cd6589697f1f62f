/**
 * Splits a file of SQL into statements, because a driver takes one statement at a time. A semicolon inside a text, a quoted name, a
 * comment, a body between dollar signs (PostgreSQL), or the `begin … end` of a trigger or a procedure ends no statement.
 *
 * Not a parser: a mistake in the SQL is found by the engine.
 */
import { FrameworkError } from "../../errors/framework-error.js";
import type { SqlFamily } from "../dialect.js";

const COMMENT = String.raw`\/\*(?:[^*]|\*(?!\/))*\*\/`;
/** PostgreSQL allows a comment inside a comment. */
const NESTED_COMMENT = String.raw`\/\*(?:[^/*]|\/(?!\*)|\*(?!\/)|${COMMENT})*\*\/`;
const WORD = String.raw`end\s+(?:if|loop|while|repeat|for|case)\b|[a-z_]\w*`;

/** The tag between the dollar signs of PostgreSQL; a parameter such as `$1` is no tag. */
const TAG = String.raw`[a-z_\x80-\uffff][\w\x80-\uffff]*`;

/** The tokens that may contain a semicolon, then words, then the semicolon. */
const TOKENS: Readonly<Record<SqlFamily, string>> = {
  sqlite: String.raw`--[^\n]*|${COMMENT}|'[^']*'|"[^"]*"|\`[^\`]*\`|\[[^\]]*\]|${WORD}|;`,
  postgres: String.raw`--[^\n]*|${NESTED_COMMENT}|\be'(?:[^'\\]|\\[\s\S]|'')*'|'[^']*'|"[^"]*"|(?<![\w$])(\$(?:${TAG})?\$)[\s\S]*?\1|${WORD}|;`,
  mysql: String.raw`--(?!\S)[^\n]*|#[^\n]*|${COMMENT}|'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"|\`[^\`]*\`|definer\s*=\s*\S+|${WORD}|;`,
};

/** A statement that may contain others between `begin` and `end`. */
const COMPOUND =
  /^create (?:(?:or|replace|temp|temporary|constraint|aggregate) )*(?:trigger|procedure|function|event)\b/;
/** The number of words that `COMPOUND` reads. */
const MAX_HEAD_WORDS = 8;

/**
 * In the order of the text, without empty ones and without the semicolons between them.
 *
 * @throws FrameworkError `E_DB_MIGRATION_FILE` for `delimiter`, which is a command of the program `mysql`
 */
export function splitStatements(text: string, family: SqlFamily): readonly string[] {
  const statements: string[] = [];
  let start = 0;
  let words: string[] = [];
  let depth = 0;
  const endStatement = (at: number): void => {
    if (words[0] === "delimiter") throw delimiterError();
    if (words.length > 0) statements.push(text.slice(start, at).trim());
    start = at + 1;
    words = [];
    depth = 0;
  };
  for (const { 0: token, index } of text.matchAll(new RegExp(TOKENS[family], "gi"))) {
    if (token === ";" && depth <= 0) endStatement(index);
    // MariaDB and MySQL execute the text of such a comment.
    if (family === "mysql" && /^\/\*M?!/.test(token)) words.push(token);
    if (!/^[a-z_]/i.test(token) || /^(?:e'|definer\s*=)/i.test(token)) continue;
    if (words.length < MAX_HEAD_WORDS) words.push(token.toLowerCase());
    if (COMPOUND.test(words.join(" "))) depth += getDepthChange(token.toLowerCase());
  }
  endStatement(text.length);
  return statements;
}

function getDepthChange(word: string): number {
  if (word === "begin" || word === "case") return 1;
  return word === "end" || /^end\s+case$/.test(word) ? -1 : 0;
}

function delimiterError(): FrameworkError {
  return new FrameworkError(
    "a migration has the line DELIMITER, which is a command of the program mysql: leave these lines out, and end each statement by a " +
      "semicolon. The semicolons between the begin and the end of a body end no statement.",
    { code: "E_DB_MIGRATION_FILE" },
  );
}
