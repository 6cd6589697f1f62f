/** Reads the kind of a statement from its text, without a parser. Kysely or the application wrote the text: it is no input of a request. */
import { FrameworkError } from "../../../errors/framework-error.js";

/** A statement of kind `schema` changes tables, and all other statements must be prepared again. */
export type StatementKind = "read" | "write" | "schema";

/** The kind by the first word after the comments. */
export function getStatementKind(sql: string): StatementKind {
  const [, word = ""] = /^(?:\s|--[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(\w+)/.exec(sql) ?? [];
  if (/^(?:insert|update|delete|replace|with)$/i.test(word)) return "write";
  return /^(?:create|alter|drop|attach|detach)$/i.test(word) ? "schema" : "read";
}

/** True also for a product, and false for `count(*)`. */
export function mayHaveStar(sql: string): boolean {
  return /(?:^|[^(])\*/.test(sql);
}

/** The engine would run the first statement and silently ignore the others. @throws FrameworkError `E_DB_SEVERAL_STATEMENTS` */
export function refuseSecondStatement(sql: string): void {
  const withoutTexts = sql.replaceAll(/'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\//g, "");
  if (!/;\s*[^\s;]/.test(withoutTexts)) return;
  throw new FrameworkError("one call runs one statement: call execute() for each", { code: "E_DB_SEVERAL_STATEMENTS" });
}
