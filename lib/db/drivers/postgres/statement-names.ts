/**
 * The names of the prepared statements of one connection. A text that is repeated gets a name, and the server then keeps its plan. Bounded:
 * when the names are used up, further texts stay without one until the connection is replaced.
 */
const MAX_NAMES = 256;
const MAX_CANDIDATES = 1024;
/** How often a text must be seen to get a name. */
const USES_BEFORE_NAME = 2;
/** A longer text is rarely repeated, and would be kept for each connection. */
const MAX_TEXT_LENGTH = 16_384;
/**
 * The server prepares only texts with one statement. A text that seems to have several stays without a name, also if it only has such a
 * literal.
 */
const MULTIPLE_STATEMENTS = /;\s*[^\s;]/;

export class StatementNames {
  private readonly names = new Map<string, string | undefined>();
  private readonly candidates = new Map<string, number>();
  /** True if a table has changed. Other statements may use the table too, and in a transaction the first use of each would fail. */
  hasChangedTable = false;

  /** `undefined`: send the text without a name. */
  findName(sql: string): string | undefined {
    const name = this.names.get(sql);
    return name ?? (this.names.size >= MAX_NAMES || this.names.has(sql) ? undefined : this.countUse(sql));
  }

  /** The text gets no name on this connection any more. */
  forget(sql: string): void {
    this.names.set(sql, undefined);
  }

  private countUse(sql: string): string | undefined {
    if (sql.length > MAX_TEXT_LENGTH || MULTIPLE_STATEMENTS.test(sql)) return undefined;
    const uses = (this.candidates.get(sql) ?? 0) + 1;
    if (uses < USES_BEFORE_NAME) {
      if (this.candidates.size >= MAX_CANDIDATES) this.candidates.clear();
      this.candidates.set(sql, uses);
      return undefined;
    }
    this.candidates.delete(sql);
    const name = `framework_${this.names.size + 1}`;
    this.names.set(sql, name);
    return name;
  }
}
