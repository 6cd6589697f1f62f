/**
 * The order of the claims in MySQL and MariaDB, which cannot walk from range to range of an index in one statement. The process knows the
 * pairs of queue and priority that had jobs. One statement reads the first job of each, and the first job of a pair that is new. Each part
 * compares with constants, so the server reads one row for it, however many jobs wait.
 */
import type { ClaimRequest } from "../../job-store.js";

type RangeRow = Readonly<Record<string, unknown>>;

/** The part of `JobSql` that reads the ranges. */
interface RangeReader {
  /** The time, as an expression. */
  readonly now: string;
  run(sql: string, parameters: readonly string[]): Promise<{ readonly rows: readonly RangeRow[] }>;
}

export interface JobRange {
  readonly queue: string;
  readonly priority: number;
}

const KINDS = { known: 0, fresh: 1, paused: 2, clock: 3 } as const;
const MAX_RANGES = 1000;
const FROM = "FROM framework_jobs FORCE INDEX (framework_jobs_turn) WHERE worker IS NULL AND";
const PAUSED = `(SELECT queue, 0 AS priority, 0 AS due, ${KINDS.paused} AS kind FROM framework_job_queues)`;

interface SqlPart {
  readonly text: string;
  readonly parameters: readonly string[];
}

export class MysqlRanges {
  private known: readonly JobRange[] = [];

  /** The ranges that have jobs which are due, in the order of the claims. */
  async due(sql: RangeReader, { queues, except = [] }: ClaimRequest): Promise<readonly JobRange[]> {
    const rows = await this.read(sql, queues);
    const closed = new Set([...except, ...readRows(rows, KINDS.paused).map(({ queue }) => queue)]);
    const now = readRows(rows, KINDS.clock)[0]?.due ?? 0;
    return readRows(rows, KINDS.known)
      .filter(({ queue, due }) => due <= now && !closed.has(queue))
      .toSorted((one, other) => one.priority - other.priority || one.due - other.due);
  }

  /** Reads until no pair is new. */
  private async read(sql: RangeReader, queues: readonly string[] | undefined): Promise<readonly RangeRow[]> {
    const isWanted = ({ queue }: JobRange): boolean => queues?.includes(queue) ?? true;
    for (;;) {
      const wanted = this.known.filter(isWanted);
      const { text, parameters } = buildStatement(sql, wanted, queues);
      const { rows } = await sql.run(text, parameters);
      const fresh = readRows(rows, KINDS.fresh);
      const found = [...readRows(rows, KINDS.known), ...fresh].map(({ queue, priority }) => ({ queue, priority }));
      this.known = [...this.known.filter((range) => !isWanted(range)), ...found];
      if (fresh.length === 0 || wanted.length >= MAX_RANGES) return rows;
    }
  }
}

function buildSelect(kind: number): string {
  return `SELECT queue, priority, due, ${kind} AS kind ${FROM}`;
}

function buildStatement(sql: RangeReader, known: readonly JobRange[], queues: readonly string[] | undefined): SqlPart {
  const heads = known.map(
    ({ priority }) => `(${buildSelect(KINDS.known)} queue = ? AND priority = ${priority} ORDER BY due, id LIMIT 1)`,
  );
  const others = buildOtherRanges(known, queues);
  const fresh = `(${buildSelect(KINDS.fresh)} (${others.text}) ORDER BY queue, priority, due, id LIMIT 1)`;
  const clock = `(SELECT '' AS queue, 0 AS priority, ${sql.now} AS due, ${KINDS.clock} AS kind)`;
  return {
    text: [...heads, fresh, PAUSED, clock].join(" UNION ALL "),
    parameters: [...known.map(({ queue }) => queue), ...others.parameters],
  };
}

/** A condition for the pairs that are not known, as ranges of the index. */
function buildOtherRanges(known: readonly JobRange[], queues: readonly string[] | undefined): SqlPart {
  const names = [...new Set(queues ?? known.map(({ queue }) => queue))].toSorted(compareBytes);
  const within = names.map((name) => {
    const priorities = known.filter(({ queue }) => queue === name).map(({ priority }) => priority);
    const others = priorities.length === 0 ? "" : ` AND priority NOT IN (${priorities.join(", ")})`;
    return { text: `(queue = ?${others})`, parameters: [name] };
  });
  const between = queues === undefined ? buildGaps(names) : [];
  const all = [...within, ...between];
  return { text: all.map(({ text }) => text).join(" OR "), parameters: all.flatMap(({ parameters }) => parameters) };
}

function buildGaps(names: readonly string[]): readonly SqlPart[] {
  const [first] = names;
  if (first === undefined) return [{ text: "queue > ''", parameters: [] }];
  const after = names.map((name, at) => {
    const next = names[at + 1];
    if (next === undefined) return { text: "(queue > ?)", parameters: [name] };
    return { text: "(queue > ? AND queue < ?)", parameters: [name, next] };
  });
  return [{ text: "(queue < ?)", parameters: [first] }, ...after];
}

/** As the collation of the column compares. */
function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function readRows(rows: readonly RangeRow[], kind: number) {
  return rows
    .filter((row) => Number(row["kind"]) === kind)
    .map((row) => ({ queue: String(row["queue"]), priority: Number(row["priority"]), due: Number(row["due"]) }));
}
