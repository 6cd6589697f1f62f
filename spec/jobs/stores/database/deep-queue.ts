/** Many jobs in the tables by one statement: a queue that is deep. */
import type { JobSql } from "../../../../lib/jobs/stores/database/job-sql.js";

export interface Backlog {
  /** The first letter of the ids. */
  readonly prefix: string;
  readonly queue: string;
  readonly priority: number;
  readonly due: number;
  readonly jobs: number;
}

/** A statement of more rows takes longer than a database waits. */
const MAX_AT_ONCE = 50_000;

const NUMBERS = {
  postgres: (first: number, last: number) => `SELECT n::text AS n FROM generate_series(${first}, ${last}) AS n`,
  mysql: (first: number, last: number) => `SELECT seq AS n FROM seq_${first}_to_${last}`,
  sqlite: (first: number, last: number) =>
    `WITH RECURSIVE number (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM number WHERE n < ${last}) SELECT n FROM number`,
} as const;

const PADDED = {
  postgres: (prefix: string) => `'${prefix}' || lpad(n, 35, '0')`,
  mysql: (prefix: string) => `CONCAT('${prefix}', LPAD(n, 35, '0'))`,
  sqlite: (prefix: string) => `'${prefix}' || printf('%035d', n)`,
} as const;

export async function fillQueue(sql: JobSql, { prefix, queue, priority, due, jobs }: Backlog): Promise<void> {
  const id = PADDED[sql.family](prefix);
  const values = `${id}, 'counted', '${queue}', ${priority}, '1', 5, ${due}`;
  for (let first = 1; first <= jobs; first += MAX_AT_ONCE) {
    const numbers = NUMBERS[sql.family](first, Math.min(first + MAX_AT_ONCE - 1, jobs));
    await sql.run(
      `INSERT INTO framework_jobs (id, name, queue, priority, payload, max_attempts, due) SELECT ${values} FROM (${numbers}) AS numbers`,
    );
  }
}
