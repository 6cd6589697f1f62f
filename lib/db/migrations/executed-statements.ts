/**
 * The statements that a migration executed, as the table of the migrations stores them: their texts with placeholders and without binds,
 * bounded in size. A password in the text itself, as in `create role`, is left out.
 */

/** In characters of ASCII. A column `text` of MariaDB stores more. */
const MAX_SIZE = 60_000;
const MAX_STATEMENT_LENGTH = 8000;

const PASSWORD = /\b(password|identified\s+by)(\s*(?:=\s*)?)(?:'(?:[^'\\]|\\[\s\S]|'')*'|"[^"]*")/gi;

export class ExecutedStatements {
  private texts: string[] = [];
  private size = 0;
  private omitted = 0;

  /** Removes the statements of the previous migration. */
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

/** JSON in ASCII, because the character set of the database may lack a character of a statement. */
export function toAsciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function shorten(text: string): string {
  return text.length <= MAX_STATEMENT_LENGTH ? text : `${text.slice(0, MAX_STATEMENT_LENGTH)}…`;
}
