/**
 * The statements that a migration executed, as the table of the migrations keeps them: their texts with placeholders and without binds,
 * bounded in size. A password that a text of SQL must hold itself, as in `create role`, is left out.
 */

/** In characters of ASCII, which is less than a column `text` of MariaDB holds. */
const MAX_SIZE = 60_000;
const MAX_STATEMENT_LENGTH = 8000;

const PASSWORD = /\b(password|identified\s+by)(\s*(?:=\s*)?)(?:'(?:[^'\\]|\\[\s\S]|'')*'|"[^"]*")/gi;

export class ExecutedStatements {
  private texts: string[] = [];
  private size = 0;
  private omitted = 0;

  /** Forgets those of the previous migration. */
  clear(): void {
    this.texts = [];
    this.size = 0;
    this.omitted = 0;
  }

  add(sql: string): void {
    const text = shorten(sql.replaceAll(PASSWORD, "$1$2'…'"));
    const size = toAsciiJson(text).length + 1;
    if (this.omitted > 0 || this.size + size > MAX_SIZE) {
      this.omitted++;
      return;
    }
    this.size += size;
    this.texts.push(text);
  }

  get list(): readonly string[] {
    return this.omitted === 0 ? this.texts : [...this.texts, `… and ${this.omitted} more`];
  }
}

/** A database may have a character set that lacks what a statement holds. */
export function toAsciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function shorten(text: string): string {
  return text.length <= MAX_STATEMENT_LENGTH ? text : `${text.slice(0, MAX_STATEMENT_LENGTH)}…`;
}
