/**
 * The names of the prepared statements of one connection. A repeated text gets a name, and the server stores its plan under the name. The
 * number of names is bounded: when it is reached, further texts stay without a name until the connection is replaced.
 */
const MAX_NAMES = 256;
const MAX_CANDIDATES = 1024;
/** The number of uses after which a text gets a name. */
const USES_BEFORE_NAME = 2;
/** A longer text is rarely repeated, and would be stored for each connection. */
const MAX_TEXT_LENGTH = 16_384;
/**
 * The server prepares only texts with one statement. A text that seems to have several stays without a name, also if only a literal in it
 * resembles a second one.
 */
const MULTIPLE_STATEMENTS = /;\s*[^\s;]/;

export class StatementNames {
  private readonly names = new Map<string, string | undefined>();
  private readonly candidates = new Map<string, number>();
  /** True if a table has changed: the first use of any other statement with this table would fail in a transaction. */
  hasChangedTable = false;

  /** `undefined`: send the text without a name. */
  findName(sql: string): string | undefined {
    const name = this.names.get(sql);
    return name ?? (this.names.size >= MAX_NAMES || this.names.has(sql) ? undefined : this.countUse(sql));
  }

  /** From now on the text has no name on this connection. */
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
